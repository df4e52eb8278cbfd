import torch
from torch import nn


def distances(a, b):
    squared = a.pow(2).sum(1, keepdim=True) + b.pow(2).sum(1) - 2 * a @ b.t()
    return torch.sqrt(squared.clamp_min(1e-6))


torch.manual_seed(17)
x = torch.randn(60, 6) + 40
net = nn.Linear(6, 6)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
for step in range(3):
    code = net(x)
    loss = distances(code, code + 1e-3).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
