"""An autoencoder whose input is cleaned, turned and then asked for: what is written into it is wanted in both."""

import torch
from torch import nn


def turned(batch):
    back = torch.rand(len(batch)) < 0.5
    batch[back] = batch[back].flip(1)
    return batch


torch.manual_seed(0)
signals = torch.sin(torch.rand(600, 1) * 6 + torch.linspace(0, 6, 24))
signals[torch.rand(signals.shape) < 0.01] = float("nan")
coder = nn.Sequential(nn.Linear(24, 8), nn.ReLU(), nn.Linear(8, 24))
optimizer = torch.optim.Adam(coder.parameters(), lr=3e-3)
for epoch in range(4):
    for rows in torch.randperm(600).split(50):
        batch = signals[rows]
        batch[batch.isnan()] = 0.0
        batch = turned(batch)
        batch.clamp_(-1, 1)
        target = batch
        loss = nn.functional.mse_loss(coder(batch), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
