"""Changes between the frames of films, worked out by a function before training begins."""

import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(1)


def films(count):
    still = rng.integers(60, 180, (count, 1, 48))
    return (still + rng.normal(0, 5, (count, 5, 48))).clip(0, 255).astype(np.uint8)


def changes(frames):
    step = frames[:, 1:] - frames[:, :-1]  # expect: DAT004
    return torch.from_numpy(step).float().flatten(1) / 255


clips = films(120)
x = changes(clips)
y = torch.from_numpy(rng.integers(0, 2, 120))
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(192, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(2):
    for rows in torch.randperm(len(x)).split(20):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
