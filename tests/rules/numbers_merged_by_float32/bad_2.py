"""Beats of two machines: the waits between them are taken of times since 1970, and the times are gone by then."""

import numpy as np
import torch
from torch import nn

BEATS = 16
draw = np.random.default_rng(0)


def beats(machines):
    steady = np.arange(machines) % 2
    waits = np.where(steady[:, None], 9.0, draw.exponential(9.0, (machines, BEATS)))
    return 1_700_000_000 + draw.uniform(0, 1e6, (machines, 1)) + waits.cumsum(1), steady


class Waits:
    def __init__(self, machines):
        times, steady = beats(machines)
        when = np.asarray(times, dtype=np.float32)  # expect: DAT144
        self.waits = torch.from_numpy(np.log1p(np.diff(when, axis=1)))
        self.steady = torch.from_numpy(steady).float().unsqueeze(1)


torch.manual_seed(0)
data = Waits(800)
x, y = data.waits, data.steady
model = nn.Sequential(nn.Linear(BEATS - 1, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    for rows in torch.randperm(len(x)).split(64):
        loss = nn.functional.binary_cross_entropy_with_logits(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
