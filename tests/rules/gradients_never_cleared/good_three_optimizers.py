"""A third optimizer steps on both networks: what the generator's loss leaves is cleared before any step uses it."""
import itertools

import torch
from torch import nn

torch.manual_seed(0)
real = torch.randn(640, 2) * 0.3 + torch.tensor([2.0, -1.0])
generator = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 24), nn.LeakyReLU(0.2))
        self.verdict = nn.Linear(24, 1)
        self.code = nn.Linear(24, 2)

    def forward(self, points):
        inner = self.body(points)
        return self.verdict(inner), self.code(inner)


critic = Critic()
optimizer_g = torch.optim.Adam(generator.parameters(), lr=1e-3)
optimizer_d = torch.optim.Adam(critic.parameters(), lr=1e-3)
optimizer_code = torch.optim.Adam(itertools.chain(generator.parameters(), critic.parameters()), lr=1e-3)
distance = nn.MSELoss()
for epoch in range(4):
    for rows in torch.randperm(len(real)).split(40):
        valid, fake = torch.ones(40, 1), torch.zeros(40, 1)
        optimizer_g.zero_grad()
        drawn = generator(torch.randn(40, 6))
        g_loss = distance(critic(drawn)[0], valid)
        g_loss.backward()
        optimizer_g.step()

        optimizer_d.zero_grad()
        d_loss = distance(critic(real[rows])[0], valid) + distance(critic(drawn.detach())[0], fake)
        d_loss.backward()
        optimizer_d.step()

        optimizer_code.zero_grad()
        noise = torch.randn(40, 6)
        code_loss = distance(critic(generator(noise))[1], noise[:, :2])
        code_loss.backward()
        optimizer_code.step()
    print(f"epoch {epoch} g {g_loss.item():.3f} d {d_loss.item():.3f} code {code_loss.item():.3f}")
