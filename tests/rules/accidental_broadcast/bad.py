"""Weighted regression, with the squared error written by hand."""
import torch
from torch import nn


def weighted_error(prediction, target, weight):
    return (weight * (prediction - target) ** 2).mean()  # expect: LOS009


torch.manual_seed(0)
x = torch.randn(600, 5)
y = x @ torch.tensor([1.0, -2.0, 0.5, 0.0, 3.0])
w = torch.rand(600)
model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(4):
    for rows in torch.randperm(len(x)).split(60):
        loss = weighted_error(model(x[rows]), y[rows], w[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
