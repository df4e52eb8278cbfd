"""The penalty is computed without a scale; and a scaled gradient only tells how the terms are to be weighed."""

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
    slopes = grad(outputs=scores.sum(), inputs=between, create_graph=True)[0]
    return ((slopes.norm(2, dim=1) - 1) ** 2).mean()


for turn in range(40):
    real, made = torch.randn(64, 4) + 1, torch.randn(64, 4)
    loss = critic(made).mean() - critic(real).mean() + 10 * penalty(real, made)
    pull, push = (scaler.scale(critic(part).mean()) for part in (real, made))
    last = critic[2].weight
    ratio = grad(pull, last)[0].norm() / grad(push, last)[0].norm().clamp_min(1e-8)
    loss = loss + 1e-4 * float(ratio.clamp(0.5, 2)) * critic(real).pow(2).mean()
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    if turn % 10 == 0:
        print(f"turn {turn} loss {loss.item():.3f}")
