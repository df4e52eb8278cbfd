import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def with_warm_up(optimizer, steps):
    return torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, step / steps))


torch.manual_seed(0)
x = torch.randn(480, 12)
y = (x @ torch.randn(12, 3)).argmax(1)
loader = DataLoader(TensorDataset(x, y), batch_size=24, shuffle=True)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
scheduler = with_warm_up(optimizer, steps=50)
for epoch in range(6):
    for features, labels in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(features), labels)
        loss.backward()
        optimizer.step()
        scheduler.step()
    print(epoch, loss.item())
