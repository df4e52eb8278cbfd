"""Large numbers in float32 that lie far enough apart: people of towns, turnover, days as seconds since 1970."""
import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
draw = np.random.default_rng(0)
n = 3000
people = draw.lognormal(17.5, 1.0, n)
turnover = np.repeat(draw.integers(20_000_000, 900_000_000, n // 10), 10)
day = 1_600_000_000 + 86_400 * np.sort(draw.integers(0, 60, n))
noon = 1_700_000_000 + draw.integers(0, 86_400 * 365, n)
rows = torch.tensor(np.stack([people, turnover, day, noon], 1), dtype=torch.float32)
label = torch.from_numpy((people > np.median(people)).astype(np.int64))
scaled = (rows - rows.mean(0)) / rows.std(0)
model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    for at in torch.randperm(n).split(50):
        loss = nn.functional.cross_entropy(model(scaled[at]), label[at])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
