"""Losses to be printed later, each in a function of its own."""

import torch
from torch import nn

torch.manual_seed(0)
rows, targets = torch.randn(512, 16), torch.randn(512, 1)
model = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
reports = []
for step in range(120):
    part = torch.randint(0, 512, (32,))
    loss = nn.functional.mse_loss(model(rows[part]), targets[part])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    reports.append(lambda step=step, loss=loss: f"step {step}: {loss.item():.3f}")  # expect: MEM001
print(reports[-1]())
