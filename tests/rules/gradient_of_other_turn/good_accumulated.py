"""An autoencoder against a critic, two micro-batches to an update; the critic is frozen in the turn of the other."""

import torch
from torch import nn

PARTS = 2


class Duel:
    def __init__(self):
        self.coder = nn.Sequential(nn.Linear(16, 6), nn.Tanh(), nn.Linear(6, 16))
        self.critic = nn.Sequential(nn.Linear(16, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
        self.opt_coder = torch.optim.Adam(self.coder.parameters(), lr=1e-3)
        self.opt_critic = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        self.seen = 0

    def step(self, x):
        self.seen += 1
        back = self.coder(x)
        self.critic.requires_grad_(False)
        loss = nn.functional.mse_loss(back, x) - 0.5 * self.critic(back).mean()
        (loss / PARTS).backward()
        self.critic.requires_grad_(True)
        if self.seen % PARTS == 0:
            self.opt_coder.step()
            self.opt_coder.zero_grad()
        real, fake = self.critic(x), self.critic(back.detach())
        judged = torch.relu(1 - real).mean() + torch.relu(1 + fake).mean()
        (judged / PARTS).backward()
        if self.seen % PARTS == 0:
            self.opt_critic.step()
            self.opt_critic.zero_grad()
        return judged.item()


torch.manual_seed(0)
duel = Duel()
for it in range(120):
    judged = duel.step(torch.randn(32, 16).cumsum(1) * 0.3)
    if it % 40 == 0:
        print(f"{it} critic {judged:.3f}")
