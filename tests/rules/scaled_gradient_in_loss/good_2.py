"""The scale is taken off the lengths; of directions there is none to take off."""

import torch
from torch import nn
from torch.autograd import grad

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(4, 32), nn.SiLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**9)


def penalty(real, made):
    share = torch.rand(len(real), 1)
    between = (share * real + (1 - share) * made).requires_grad_(True)
    scores = critic(between)
    slopes = grad(outputs=scaler.scale(scores.sum()), inputs=between, create_graph=True)[0]
    lengths = slopes.norm(2, dim=1) / scaler.get_scale()
    turned = slopes / slopes.norm(2, dim=1, keepdim=True)
    return ((lengths - 1) ** 2).mean() + 0.01 * (turned[:, 0] - turned[:, 1]).pow(2).mean()


for turn in range(40):
    real, made = torch.randn(64, 4) + 1, torch.randn(64, 4)
    loss = critic(made).mean() - critic(real).mean() + 10 * penalty(real, made)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    if turn % 10 == 0:
        print(f"turn {turn} loss {loss.item():.3f}")
