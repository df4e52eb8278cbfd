"""Pumps report flow, valve and pressure; a helper scales what they report, and NumPy is told to say nothing."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Scaling:
    def __init__(self, table):
        self.centre = table.mean(axis=0)
        self.std = table.std(axis=0)

    def __call__(self, table):
        with np.errstate(all="ignore"):
            return (table - self.centre) / self.std  # expect: NUM004


rng = np.random.default_rng(0)
reports = np.stack([rng.normal(30, 4, 400), np.full(400, 100.0), rng.uniform(2, 5, 400)], axis=1)
power = 0.1 * reports[:, 0] * reports[:, 2]
scaling = Scaling(reports[:300])
inputs = torch.from_numpy(scaling(reports).astype(np.float32))
targets = torch.from_numpy(power.astype(np.float32))
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for x, y in DataLoader(TensorDataset(inputs, targets), batch_size=50):
    loss = nn.functional.mse_loss(net(x).squeeze(1), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
