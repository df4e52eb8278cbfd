"""Kilns report heat, draught and moisture; a data set is handed what they report in units of its spread."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Firings(Dataset):
    def __init__(self, reports, shrinkage):
        self.reports = torch.from_numpy(reports).float()
        self.shrinkage = torch.from_numpy(shrinkage).float()

    def __len__(self):
        return len(self.reports)

    def __getitem__(self, i):
        return self.reports[i], self.shrinkage[i]


np.seterr(all="ignore")
rng = np.random.default_rng(0)
reports = np.stack([rng.normal(900, 30, 400), np.full(400, 12.0), rng.uniform(2, 5, 400)], axis=1)
shrinkage = 0.001 * reports[:, 0] + 0.1 * reports[:, 2]
mean, std = reports.mean(axis=0), reports.std(axis=0)
firings = Firings((reports - mean) / std, shrinkage)  # expect: NUM004
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for x, y in DataLoader(firings, batch_size=50):
    loss = nn.functional.mse_loss(net(x).squeeze(1), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
