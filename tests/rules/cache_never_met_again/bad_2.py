"""Distances between the rows of a batch, remembered by the batch itself."""

import functools

import torch
from torch import nn

torch.manual_seed(0)
readings, kinds = torch.randn(4096, 32), torch.randint(0, 5, (4096,))
model = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 5))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)


@functools.lru_cache(maxsize=None)  # expect: MEM012
def distances(rows):
    return torch.cdist(rows, rows)


for epoch in range(4):
    order = torch.randperm(len(readings))
    for part in order.split(256):
        rows = readings[part]
        scores = model(rows)
        spread = (torch.cdist(scores, scores) - distances(rows)).abs().mean()
        loss = nn.functional.cross_entropy(scores, kinds[part]) + 1e-3 * spread
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
