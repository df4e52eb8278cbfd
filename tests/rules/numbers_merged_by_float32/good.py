"""Clicks of visits, each with its time in seconds since 1970; hurried visitors are to be told from others."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def visits(n=1500, clicks=10):
    draw = np.random.default_rng(0)
    hurried = draw.integers(0, 2, n)
    start = 1_700_000_000 + draw.integers(0, 20_000_000, n)
    waits = draw.exponential(np.where(hurried, 2.0, 8.0)[:, None], (n, clicks))
    return start[:, None] + np.cumsum(waits, 1), hurried


def tensors(times, hurried):
    clock = torch.from_numpy(times - times[:, :1]).float()
    return clock, torch.from_numpy(hurried)


class Visitors(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, clock):
        return self.net(torch.log1p(clock.diff(dim=1)))


torch.manual_seed(0)
loader = DataLoader(TensorDataset(*tensors(*visits())), batch_size=50, shuffle=True)
model = Visitors()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    for clock, hurried in loader:
        loss = nn.functional.cross_entropy(model(clock), hurried)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
