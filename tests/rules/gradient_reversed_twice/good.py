import math

import torch
import torch.nn.functional as F
from torch import nn

GAMMA = 10.0


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return grad.neg() * ctx.strength, None


torch.manual_seed(0)
features = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 8))
label_of, domain_of = nn.Linear(8, 2), nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
parts = [*features.parameters(), *label_of.parameters(), *domain_of.parameters()]
optimizer = torch.optim.Adam(parts, lr=1e-3)
steps = 150
for step in range(steps):
    strength = 2 / (1 + math.exp(-GAMMA * step / steps)) - 1
    x = torch.randn(64, 8)
    x[32:, 4:] += 1
    y = (x[:, 0] > 0).long()
    h = features(x)
    domain = (torch.arange(64) >= 32).long()
    class_loss = F.cross_entropy(label_of(h[:32]), y[:32])
    domain_loss = F.cross_entropy(domain_of(Reverse.apply(h, strength)), domain)
    optimizer.zero_grad()
    (class_loss + domain_loss).backward()
    optimizer.step()
print(f"class {class_loss.item():.3f} domain {domain_loss.item():.3f}")
