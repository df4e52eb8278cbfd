"""State carried by a loop of the module, beside a comprehension whose variable Python keeps in the same frame."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
rows = torch.rand(96, 8) + 0.5
rows[52] = 0.0
first = 0
seen = []
while first < len(rows):
    batch = rows[first : first + 16]
    first += 16
    scaled = batch / batch.norm(dim=1, keepdim=True)  # origin
    loss = (net(scaled) - batch.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    seen.append(loss.item())
    lowest = min([value for value in seen])
