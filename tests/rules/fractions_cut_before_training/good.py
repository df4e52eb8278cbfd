"""Angles of a joint from four sensors; the targets were prepared as those of a classification are."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

draw = np.random.default_rng(0)
angles = draw.uniform(-3, 3, (1200, 2))
sensors = np.concatenate([np.sin(angles), np.cos(angles)], 1) + draw.normal(0, 0.02, (1200, 4))
x = torch.from_numpy(sensors).float()
y = torch.from_numpy(angles)

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 48), nn.ReLU(), nn.Linear(48, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    for sensor, angle in DataLoader(TensorDataset(x, y), batch_size=40, shuffle=True):
        loss = nn.functional.mse_loss(model(sensor), angle.float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
