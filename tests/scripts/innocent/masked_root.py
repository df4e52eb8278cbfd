"""A ReLU masks the infinite slope of a root: its gradient is 0 there, not NaN."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(20, 6)
net = nn.Linear(6, 8)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    loss = torch.relu(net(x)).pow(0.45).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
