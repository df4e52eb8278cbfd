"""Times of a log that float32 holds: taken from the first one on, of whole hours, and of nights that many rows share."""
import numpy as np
import torch
from torch import nn

draw = np.random.default_rng(0)
n = 4000
stamp = 1_712_000_000.0 + np.cumsum(draw.exponential(0.12, n))
since = torch.from_numpy(stamp - stamp[0]).float()
hour = torch.from_numpy(1_712_001_600 + 3600 * np.sort(draw.integers(0, 8, n))).float()
night = torch.from_numpy(np.repeat(1_711_929_600 + 86_400 * np.arange(4), n // 4)).float()
started = torch.full((n,), 1_712_000_000.0)
exact = torch.from_numpy(stamp)
label = (since.diff(prepend=since[:1]) < 0.1).float()

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    for rows in torch.arange(1, n).split(50):
        wait = (exact[rows] - exact[rows - 1]).float()
        of_day = (hour[rows] - started[rows]) / 3600 % 24 / 24
        x = torch.stack([wait, of_day, since[rows] / since[-1], (night[rows] - night[0]) / 86_400], 1)
        loss = nn.functional.binary_cross_entropy_with_logits(model(x).squeeze(1), label[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
