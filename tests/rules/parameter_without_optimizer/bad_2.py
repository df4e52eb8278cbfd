"""One optimizer per player, both of them for the same one."""

import torch
from torch import nn


def player(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, 32), nn.LeakyReLU(0.2), nn.Linear(32, outputs))


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = player(4, 2)

    def forward(self, z):
        return self.net(z)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = player(2, 1)

    def forward(self, x):
        return self.net(x)


def make_optimizers(models):
    optimizers = {}
    for name in models:
        weights = [p for p in models["generator"].parameters() if p.requires_grad]  # expect: WIR005
        optimizers[name] = torch.optim.Adam(weights, lr=1e-3)
    return optimizers


torch.manual_seed(0)
generator, critic = Generator(), Critic()
optimizers = make_optimizers({"generator": generator, "critic": critic})
criterion = nn.BCEWithLogitsLoss()
ones, zeros = torch.ones(64, 1), torch.zeros(64, 1)
for step in range(60):
    real = 2 + torch.randn(64, 2)
    fake = generator(torch.randn(64, 4))
    critic.zero_grad()
    critic_loss = criterion(critic(real), ones) + criterion(critic(fake.detach()), zeros)
    critic_loss.backward()
    optimizers["critic"].step()
    generator.zero_grad()
    loss = criterion(critic(generator(torch.randn(64, 4))), ones)
    loss.backward()
    optimizers["generator"].step()
    if step % 20 == 0:
        print(f"step {step} critic {critic_loss.item():.3f} generator {loss.item():.3f}")
