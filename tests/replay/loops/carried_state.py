import torch
from torch import nn

torch.manual_seed(0)
cell = nn.GRUCell(3, 6)
head = nn.Linear(6, 1)
opt = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=1e-2)
x = torch.randn(30, 5, 3)
gain = torch.ones(30)
gain[17] = -1.0


def energy(h, g):
    return torch.sqrt(g * (h ** 2).sum(1) + 0.01).mean()  # origin


h = torch.zeros(5, 6)
for t in range(30):
    h = cell(x[t], h)
    loss = energy(h, gain[t]) + head(h).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    h = h.detach()
