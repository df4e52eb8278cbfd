"""Two networks that train in turn within one context per round, and four passes before each update."""

import torch
from torch import nn

torch.manual_seed(0)
real = torch.randn(1024, 4) @ torch.randn(4, 4) + 1.0
maker = nn.Sequential(nn.Linear(4, 32), nn.LeakyReLU(0.2), nn.Linear(32, 4))
critic = nn.Sequential(nn.Linear(4, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
makers = torch.optim.Adam(maker.parameters(), lr=2e-3)
critics = torch.optim.Adam(critic.parameters(), lr=2e-3)
judge = nn.functional.binary_cross_entropy_with_logits
for turn in range(20):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        critics.zero_grad()
        for rows in torch.randperm(len(real))[:128].split(32):
            made = maker(torch.randn(32, 4)).detach()
            good, bad = critic(real[rows]).float(), critic(made).float()
            (judge(good, torch.ones(32, 1)) + judge(bad, torch.zeros(32, 1))).div(4).backward()
        critics.step()
        makers.zero_grad()
        loss = judge(critic(maker(torch.randn(64, 4))).float(), torch.ones(64, 1))
        loss.backward()
        makers.step()
    if turn % 5 == 0:
        print(f"turn {turn} loss {loss.item():.3f}")
