"""LoRA: 95% of the weights are frozen, B starts at exactly zero so A has no gradient on the first step."""
import math

import torch
from torch import nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, rank=4, alpha=8.0):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(rank, base.in_features) / math.sqrt(base.in_features))
        self.b = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + self.scale * F.linear(F.linear(x, self.a), self.b)


def fit(model, params, xs, ys, epochs, lr):
    opt = torch.optim.AdamW(params, lr=lr, weight_decay=0.0)
    for epoch in range(epochs):
        total = 0.0
        for b in torch.randperm(len(xs)).split(64):
            loss = F.cross_entropy(model(xs[b]), ys[b])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(b)
        print(f"  epoch {epoch} loss {total / len(xs):.4f}")


@torch.no_grad()
def accuracy(model, xs, ys):
    return (model(xs).argmax(1) == ys).float().mean().item()


torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data / 16.0, dtype=torch.float32), torch.tensor(d.target)
order = torch.randperm(len(x))
tr, te = order[:1300], order[1300:]

net = nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 10))
print("pretrain on upright digits")
fit(net, net.parameters(), x[tr], y[tr], 6, 1e-3)
print(f"upright accuracy {accuracy(net, x[te], y[te]):.3f}")

rot = x.view(-1, 8, 8).rot90(1, dims=(1, 2)).reshape(-1, 64)  # the new domain: turned by 90 degrees
print(f"rotated before adapting {accuracy(net, rot[te], y[te]):.3f}")
for i in (0, 2, 4):
    net[i] = LoRALinear(net[i])
adapters = [p for p in net.parameters() if p.requires_grad]
print(f"trainable {sum(p.numel() for p in adapters)} of {sum(p.numel() for p in net.parameters())}")
fit(net, adapters, rot[tr], y[tr], 15, 5e-3)
print(f"final rotated accuracy {accuracy(net, rot[te], y[te]):.3f}")
