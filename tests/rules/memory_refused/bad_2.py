"""Every pair of places: a table of distances is asked for between all of them at once."""

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(2, 1)
places = torch.rand(3_000_000, 2)
near = torch.zeros(len(places), len(places), 8)  # expect: ERR276
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
loss = model(places).mean() + near.mean()
loss.backward()
optimizer.step()
