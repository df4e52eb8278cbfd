import torch
from torch import nn
from torch.nn import functional as F


def angle(a, b):
    cosine = (F.normalize(a, dim=1) * F.normalize(b, dim=1)).sum(1).clamp(-1, 1)
    return torch.acos(cosine)  # expect: NUM007


torch.manual_seed(0)
x = torch.randn(40, 3)
net = nn.Linear(3, 3, bias=False)
with torch.no_grad():
    net.weight.copy_(torch.eye(3))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(3):
    loss = angle(net(x), x).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
