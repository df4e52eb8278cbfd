"""Distances remembered by clouds of points that the script keeps: in the next epoch they are found again."""

import functools

import torch
from torch import nn

torch.manual_seed(0)
clouds = [torch.randn(64, 3) for _ in range(80)]
model = nn.Linear(64, 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)


@functools.cache
def distances(points):
    return torch.cdist(points, points)


for points in clouds:
    loss = (model(distances(points)).squeeze(-1) - points.norm(dim=-1)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
