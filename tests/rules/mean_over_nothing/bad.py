import torch
from torch import nn

torch.manual_seed(12)
x = torch.randn(120, 5)
damage = (torch.randn(120) - 1.2).clamp_min(0)
net = nn.Linear(5, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for rows in torch.arange(120).split(6):
    predicted = net(x[rows])[:, 0]
    damaged = damage[rows] > 0
    loss = (predicted[damaged] - damage[rows][damaged]).abs().mean()  # expect: NUM015
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
