"""Gradients by the input that are meant as numbers: an attack, a semi-gradient, and one with its graph."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)
for step in range(80):
    t = torch.rand(64, 1, requires_grad=True)
    u = net(t)
    slope = torch.autograd.grad(u.sum(), t, create_graph=True)[0]
    fit = (u - t.detach().sin()).square()
    uphill = torch.autograd.grad(fit.sum(), t, retain_graph=True)[0]
    moved = t + 0.1 * uphill
    held = torch.autograd.grad(u.sum(), t, retain_graph=True)[0].detach()
    attacked = (net(moved) - moved.detach().sin()).square().mean()
    loss = fit.mean() + attacked + 0.1 * (slope - t.detach().cos()).square().mean() + 0.01 * (held + u).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
