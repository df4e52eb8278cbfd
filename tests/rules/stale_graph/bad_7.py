import torch
import torch.nn.functional as F
from torch import nn


class MemoryBank:
    def __init__(self, size, dim):
        self.keys = F.normalize(torch.randn(size, dim), dim=1)

    def push(self, new):
        self.keys = torch.cat([new, self.keys])[: len(self.keys)]  # expect: ERR015


torch.manual_seed(0)
bank, net = MemoryBank(64, 4), nn.Linear(8, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for _ in range(3):
    x = torch.randn(16, 8)
    key = F.normalize(net(x), dim=1)
    loss = F.cross_entropy(key @ bank.keys.t(), torch.zeros(16, dtype=torch.long))
    opt.zero_grad()
    loss.backward()
    opt.step()
    bank.push(key)
