"""Particles that push each other: every layer adds up what all others do to one."""

import torch
from torch import nn


class Push(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.strength = nn.Sequential(nn.Linear(1, width), nn.SiLU(), nn.Linear(width, 1))

    def forward(self, place):
        apart = place[:, :, None] - place[:, None]
        near = 1 / (1 + apart.square().sum(-1, keepdim=True))
        return place + (apart * self.strength(near)).sum(2)  # expect: NUM050


class Swarm(nn.Module):
    def __init__(self, depth=6):
        super().__init__()
        self.layers = nn.ModuleList(Push() for _ in range(depth))

    def forward(self, place):
        for layer in self.layers:
            place = layer(place)
        return place


torch.manual_seed(0)
model = Swarm()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(44):
    place = torch.randn(8, 24, 3)
    wanted = 0.9 * place
    loss = (model(place) - wanted).square().sum(-1).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 11 == 0:
        print(f"step {step} loss {loss.item():.3g}")
