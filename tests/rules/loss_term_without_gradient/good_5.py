"""One backward for a painter and its critic: what the critic learns from is detached, and both optimizers step."""

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
    fake = critic(painted.detach())
    real = critic(paintings)
    criticism = judge(real, torch.ones_like(real)) + judge(fake, torch.zeros_like(fake))
    loss = criticism + 10 * nn.functional.l1_loss(painted, wishes.repeat(1, 2))
    painter_optimizer.zero_grad()
    critic_optimizer.zero_grad()
    loss.backward()
    painter_optimizer.step()
    critic_optimizer.step()
