"""A trainer that loops over the optimizers of a model: each clears its own gradients only after its step."""

import torch
from torch import nn


class Gan(nn.Module):
    def __init__(self):
        super().__init__()
        self.generator = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
        self.critic = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))

    def loss(self, real, turn):
        fake = self.generator(torch.randn(len(real), 4))
        if turn == 0:
            return -self.critic(fake).mean()
        return torch.relu(1 - self.critic(real)).mean() + torch.relu(1 + self.critic(fake.detach())).mean()

    def optimizers(self):
        opt_g = torch.optim.Adam(self.generator.parameters(), lr=1e-3)
        opt_c = torch.optim.Adam(self.critic.parameters(), lr=1e-3)
        return [opt_g, opt_c]


def fit(gan, readings, epochs):
    optimizers = gan.optimizers()
    for epoch in range(epochs):
        for real in readings[torch.randperm(512)].split(32):
            for turn, optimizer in enumerate(optimizers):
                loss = gan.loss(real, turn)
                loss.backward()  # expect: WIR126
                optimizer.step()
                optimizer.zero_grad()
        print(f"epoch {epoch} critic {loss.item():.3f}")


torch.manual_seed(0)
fit(Gan(), torch.randn(512, 2) * 0.4 + torch.tensor([2.0, -1.0]), epochs=3)
