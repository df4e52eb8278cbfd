import torch
from torch import nn


def root_or_zero(x):
    root = torch.sqrt(torch.where(x > 0, x, torch.ones_like(x)))
    return torch.where(x > 0, root, torch.zeros_like(x))


torch.manual_seed(5)
x = torch.randn(64, 6)
net = nn.Linear(6, 12)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for batch in x.split(16):
    loss = root_or_zero(net(batch)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
