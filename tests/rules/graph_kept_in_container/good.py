"""Honest loops: numbers, a detached replay buffer, a bounded cache, losses of one step collected and used."""
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
x, y = torch.randn(320, 20), torch.randn(320, 1)
losses, replay, cache, mean = [], deque(maxlen=50), {}, 0.0
for epoch in range(12):
    for number, rows in enumerate(torch.randperm(256).split(32)):
        parts = [F.mse_loss(model(half), goal) for half, goal in zip(x[rows].chunk(4), y[rows].chunk(4), strict=True)]
        loss = torch.stack(parts).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        mean = 0.9 * mean + 0.1 * float(loss)
        with torch.no_grad():
            output = model(x[rows])
        replay.append((x[rows], output))
        cache[number] = output
print(f"last {losses[-1]:.3f} mean {mean:.3f} kept {len(replay)} {len(cache)}")
