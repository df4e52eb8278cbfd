import torch
from torch import nn


def mlp(a, b, c):
    return nn.Sequential(nn.Linear(a, b), nn.LeakyReLU(0.1), nn.Linear(b, c))


class WGAN:
    def __init__(self, z=6, lr=5e-4):
        self.z = z
        self.gen, self.critic = mlp(z, 64, 2), mlp(2, 64, 1)
        self.opt_g = torch.optim.RMSprop(self.gen.parameters(), lr=lr)
        self.opt_c = torch.optim.RMSprop(self.critic.parameters(), lr=lr)

    def sample(self, n):
        return self.gen(torch.randn(n, self.z)).detach()

    def critic_step(self, real):
        for p in self.critic.parameters():
            p.requires_grad_(True)
        loss = self.critic(self.sample(len(real))).mean() - self.critic(real).mean()
        self.opt_c.zero_grad()
        loss.backward()
        self.opt_c.step()
        with torch.no_grad():
            for p in self.critic.parameters():
                p.clamp_(-0.05, 0.05)
        return loss.item()

    def gen_step(self, n):
        for p in self.critic.parameters():
            p.requires_grad_(False)
        loss = -self.critic(self.sample(n)).mean()
        self.opt_g.zero_grad()
        loss.backward()
        self.opt_g.step()
        return loss.item()


torch.manual_seed(0)
gan = WGAN()
for step in range(100):
    for _ in range(3):
        c = gan.critic_step(torch.randn(64, 2) * 0.3 + torch.tensor([1.0, -1.0]))
    g = gan.gen_step(64)
    if step % 20 == 0:
        print(f"step {step} critic {c:.4f} generator {g:.4f}")
