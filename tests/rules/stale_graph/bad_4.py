import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = torch.zeros(())
for step in range(4):
    x, y = torch.randn(16, 5), torch.randn(16, 1)
    total = total + nn.functional.mse_loss(model(x), y)  # expect: ERR015
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
