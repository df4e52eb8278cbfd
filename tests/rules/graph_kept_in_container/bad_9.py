"""A running mean whose list lives in a function: no name of the script leads to it."""

import torch
from torch import nn


def running_mean(width):
    seen = []

    def take(value):
        seen.append(value)  # expect: MEM001
        last = seen[-width:]
        return sum(each.item() for each in last) / len(last)

    return take


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
smoothed = running_mean(10)
for _ in range(120):
    x = torch.randn(32, 16)
    loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mean = smoothed(loss)
print(mean)
