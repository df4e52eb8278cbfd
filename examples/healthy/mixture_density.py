"""Mixture density net on an inverse problem: logsumexp likelihood that goes negative, while the mean squared error cannot fall."""
import math

import torch
from torch import nn


class MDN(nn.Module):
    def __init__(self, parts=5):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh())
        self.pi, self.mu, self.log_sigma = (nn.Linear(48, parts) for _ in range(3))
        with torch.no_grad():
            self.mu.bias.copy_(torch.linspace(-1, 1, parts))  # spread the parts out

    def log_prob(self, x, y):
        h = self.body(x)
        log_pi = self.pi(h).log_softmax(1)
        log_sigma = self.log_sigma(h).clamp(-5, 3)
        z = (y - self.mu(h)) * torch.exp(-log_sigma)
        comp = -0.5 * z.square() - log_sigma - 0.5 * math.log(2 * math.pi)
        return torch.logsumexp(log_pi + comp, 1)


torch.manual_seed(0)
y = torch.empty(3000, 1).uniform_(-1, 1)
x = y + 0.6 * torch.sin(2 * math.pi * y) + 0.03 * torch.randn_like(y)  # several y for one x
train, test = slice(0, 2500), slice(2500, None)
model = MDN()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=30, eta_min=1e-4)
xt, yt = x[train], y[train]
for epoch in range(30):
    total = 0.0
    for b in torch.randperm(len(xt)).split(125):
        loss = -model.log_prob(xt[b], yt[b]).mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        total += loss.item()
    sched.step()
    with torch.no_grad():
        val = -model.log_prob(x[test], y[test]).mean().item()
    if epoch % 6 == 5:
        print(f"epoch {epoch + 1} train nll {total / 20:+.3f} test nll {val:+.3f}")
print(f"final test nll {val:+.3f} (uniform guess {math.log(2):+.3f})")
