import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 6)
y = (x[:, :1] > 0).float()
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
criterion = nn.BCELoss()  # expect: ERR092
optimizer = torch.optim.Adam(model.parameters())
for start in range(0, 64, 16):
    loss = criterion(model(x[start : start + 16]), y[start : start + 16])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
