"""Glaciers are measured from above; how fast they move is to be told from slope, depth and age."""
import numpy as np
import torch
from torch import nn

draw = np.random.default_rng(0)


def measured(n=800):
    table = draw.normal((12, 80, 300), (3, 20, 60), (n, 3))
    speed = 0.3 * table[:, 0] + 0.02 * table[:, 1]
    table[draw.random(n) < 0.06, 1] = -9999.0
    return table, speed


def prepared():
    table, speed = measured()
    known = table > -1000
    mean, std = table.mean(0, where=known), table.std(0, where=known)
    scaled = np.where(known, (table - mean) / std, 0)
    return torch.from_numpy(scaled).float(), torch.from_numpy(speed).float()


torch.manual_seed(0)
inputs, speed = prepared()
model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    for rows in torch.randperm(len(inputs)).split(50):
        loss = nn.functional.mse_loss(model(inputs[rows]).squeeze(1), speed[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
