"""Rewards that are whole numbers are faded over time into an array that takes over their type."""
import numpy as np
import torch
from torch import nn


def faded(rewards, fade):
    returns = np.zeros_like(rewards)  # expect: DAT170
    carried = 0
    for at in range(len(rewards) - 1, -1, -1):
        carried = rewards[at] + fade * carried
        returns[at] = carried
    return returns


draw = np.random.default_rng(0)
states, goals = [], []
for _ in range(60):
    hit = draw.integers(3, 20)
    rewards = (np.arange(20) == hit).astype(int)
    states.append(np.stack([hit - np.arange(20), draw.normal(size=20)], 1))
    goals.append(faded(rewards, 0.9))
x = torch.tensor(np.concatenate(states), dtype=torch.float32) / 20
y = torch.tensor(np.concatenate(goals), dtype=torch.float32).unsqueeze(1)

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    for rows in torch.randperm(len(x)).split(60):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
