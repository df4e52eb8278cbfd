"""A painter that should please a critic too, and only ever copies: what the critic sees is detached."""

import torch
from torch import nn

torch.manual_seed(0)
painter = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 16))
critic = nn.Sequential(nn.Linear(16, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
painter_optimizer = torch.optim.Adam(painter.parameters(), lr=1e-3)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
judge = nn.BCEWithLogitsLoss()
for step in range(60):
    wishes, paintings = torch.randn(32, 8), torch.randn(32, 16)
    painted = painter(wishes)
    verdict = critic(painted.detach())  # expect: WIR011
    applause = judge(verdict, torch.ones_like(verdict))
    loss = applause + 10 * nn.functional.l1_loss(painted.mean(0), paintings.mean(0))
    painter_optimizer.zero_grad()
    loss.backward()
    painter_optimizer.step()

    real, fake = critic(paintings), critic(painted.detach())
    criticism = judge(real, torch.ones_like(real)) + judge(fake, torch.zeros_like(fake))
    critic_optimizer.zero_grad()
    criticism.backward()
    critic_optimizer.step()
