import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(260, 8)
y = (x[:, :1] * x[:, 1:2]).sin()
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
steps = len(x) // 16
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, epochs=4, steps_per_epoch=steps)  # expect: WIR123
for epoch in range(4):
    for inputs, target in loader:
        optimizer.zero_grad()
        loss = F.mse_loss(model(inputs), target)
        loss.backward()
        optimizer.step()
        scheduler.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
