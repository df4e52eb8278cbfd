import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

RATE, DECAY = 0.02, 0.002
torch.manual_seed(0)
x = torch.randn(1200, 30)
y = (x @ torch.randn(30, 4)).argmax(1)
loader = DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True)
model = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: RATE / (1 + DECAY * step))  # expect: WIR032
for epoch in range(5):
    for features, labels in loader:
        loss = nn.functional.cross_entropy(model(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
