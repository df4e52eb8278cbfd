"""Learning to adapt: each task is learned by a copy of the model, and the copy's loss never reaches the model."""

import copy

import torch
from torch import nn


def adapted(model, x, y, rate=0.05):
    quick = copy.deepcopy(model)  # expect: WIR006
    loss = nn.functional.mse_loss(quick(x), y)
    for p, g in zip(quick.parameters(), torch.autograd.grad(loss, quick.parameters()), strict=True):
        p.data -= rate * g
    return quick


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for it in range(40):
    total = 0.0
    for _ in range(3):
        height, x = torch.rand(1) * 3, torch.rand(20, 1) * 6
        y = height * x.sin()
        total = total + nn.functional.mse_loss(adapted(model, x[:10], y[:10])(x[10:]), y[10:])
    optimizer.zero_grad()
    total.backward()
    optimizer.step()
    if it % 10 == 0:
        print(f"{it} loss {total.item():.3f}")
