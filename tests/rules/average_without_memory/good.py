"""A decay that is warmed up: the average forgets quickly at first, on purpose."""
import copy

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(1000, 10)
y = (x[:, 0] * x[:, 1] + 0.5 * x[:, 2] > 0).long()
model = nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Linear(48, 2))
ema_model = copy.deepcopy(model).requires_grad_(False)
DECAY = 0.99
updates = 0
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    for rows in torch.randperm(800).split(50):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        updates += 1
        decay = min(DECAY, (1 + updates) / (10 + updates))
        with torch.no_grad():
            for ema, new in zip(ema_model.parameters(), model.parameters()):
                ema.lerp_(new, 1 - decay)
    with torch.no_grad():
        hits = (ema_model(x[800:]).argmax(1) == y[800:]).float().mean()
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy of the average {hits:.3f}")
