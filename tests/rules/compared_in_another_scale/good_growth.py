# Prices that have grown since: a model cannot follow them, and nobody forgot to scale.
import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
price = np.exp(np.arange(900) / 210) + 0.05 * rng.normal(size=900)
past = torch.tensor(np.stack([price[i : i + 12] for i in range(888)]), dtype=torch.float32)
following = torch.tensor(price[12:], dtype=torch.float32)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(5):
    for rows in torch.randperm(450).split(50):
        loss = nn.functional.l1_loss(model(past[rows]).squeeze(1), following[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        later = [nn.functional.l1_loss(model(past[k : k + 60]).squeeze(1), following[k : k + 60]) for k in (600, 700, 800)]
    print(f"epoch {epoch} loss {loss.item():.3f} later {torch.stack(later).mean().item():.2f}")
