import torch
from torch import nn


class Gan:
    def __init__(self):
        self.generator, self.critic = nn.Linear(4, 2), nn.Linear(2, 1)
        self.of_generator = torch.optim.Adam(self.generator.parameters())
        self.of_critic = torch.optim.Adam(self.critic.parameters())

    def verdict(self, points, is_real):
        logits = self.critic(points).squeeze(1)
        return nn.functional.binary_cross_entropy_with_logits(logits, torch.full_like(logits, float(is_real)))

    def train_critic(self, real, fake):
        self.of_critic.zero_grad()
        loss = self.verdict(real, True) + self.verdict(fake, False)
        loss.backward()
        self.of_critic.step()

    def train_generator(self, fake):
        self.of_generator.zero_grad()
        loss = self.verdict(fake, True)
        loss.backward()
        self.of_generator.step()

    def fit(self, steps):
        for _ in range(steps):
            fake = self.generator(torch.randn(16, 4)).tanh()
            self.train_critic(torch.randn(16, 2), fake)  # expect: ERR015
            self.train_generator(fake)


torch.manual_seed(0)
Gan().fit(3)
