"""A branch that is not taken is infinite, and nothing of it needs a gradient."""

import torch
from torch import nn

torch.manual_seed(0)
distance = torch.rand(10, 5)
distance[3] = 0.0
weight = torch.where(distance > 0, 1 / distance, torch.zeros_like(distance))
net = nn.Linear(5, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
for step in range(4):
    nearness = torch.where(distance > 0, torch.log(distance), torch.zeros_like(distance))
    loss = net(weight.clamp(max=10) + nearness).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
