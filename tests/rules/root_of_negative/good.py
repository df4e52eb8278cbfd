import torch
from torch import nn


def distances(a, b):
    squared = a.pow(2).sum(1, keepdim=True) + b.pow(2).sum(1) - 2 * a @ b.t()
    return torch.sqrt(squared.clamp_min(1e-6))


x = 40 + torch.arange(60.0).unsqueeze(1) / 16
net = nn.Linear(1, 1, bias=False)
nn.init.constant_(net.weight, 0.9)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
for step in range(3):
    code = net(x)
    loss = distances(code, code + 1e-3).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
