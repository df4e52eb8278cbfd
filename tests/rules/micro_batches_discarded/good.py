"""Gradient surgery: each task's gradients are copied before they are cleared, and put together before the step."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
targets = torch.stack([x[:, 0] * x[:, 1], x[:, 1] - x[:, 2], x[:, 3].sin()], 1)
model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)


def gradients_of(loss):
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    return torch.cat([p.grad.flatten().clone() for p in model.parameters()])


def without_conflict(gradients):
    merged = [g.clone() for g in gradients]
    for mine in merged:
        for other in gradients:
            along = mine @ other
            if along < 0:
                mine -= along / other.norm() ** 2 * other
    return sum(merged)


for epoch in range(4):
    for idx in torch.randperm(512).split(32):
        out = model(x[idx])
        gradients = [gradients_of(nn.functional.mse_loss(out[:, t], targets[idx, t])) for t in range(3)]
        merged = without_conflict(gradients)
        at = 0
        for p in model.parameters():
            p.grad.copy_(merged[at : at + p.numel()].view_as(p))
            at += p.numel()
        optimizer.step()
    print(f"epoch {epoch} loss {nn.functional.mse_loss(model(x), targets).item():.3f}")
