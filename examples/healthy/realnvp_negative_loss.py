"""Normalising flow on tight clusters: the negative log-density goes below zero and keeps falling."""
import torch
from torch import nn
from sklearn.datasets import make_moons
from torch.distributions import Normal


class Coupling(nn.Module):
    def __init__(self, flip):
        super().__init__()
        self.flip = flip
        self.net = nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 2))
        nn.init.zeros_(self.net[-1].weight)  # identity map to start with
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        a, b = x.chunk(2, 1)
        if self.flip:
            a, b = b, a
        s, t = self.net(a).chunk(2, 1)
        s = 2.0 * torch.tanh(s)
        b = b * s.exp() + t
        return torch.cat([b, a] if self.flip else [a, b], 1), s.sum(1)


class Flow(nn.Module):
    def __init__(self, depth=6):
        super().__init__()
        self.layers = nn.ModuleList(Coupling(i % 2 == 1) for i in range(depth))
        self.register_buffer("zero", torch.zeros(2))

    def log_prob(self, x):
        logdet = torch.zeros(len(x))
        for layer in self.layers:
            x, ld = layer(x)
            logdet = logdet + ld
        return Normal(self.zero, 1.0).log_prob(x).sum(1) + logdet


torch.manual_seed(0)
pts, _ = make_moons(3000, noise=0.04, random_state=0)
pts = torch.tensor(pts, dtype=torch.float32) * 0.5
train, test = pts[:2500], pts[2500:]
flow = Flow()
opt = torch.optim.Adam(flow.parameters(), lr=3e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=16)
for epoch in range(16):
    total = 0.0
    for b in torch.randperm(len(train)).split(125):
        loss = -flow.log_prob(train[b]).mean()
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(flow.parameters(), 5.0)
        opt.step()
        total += loss.item()
    sched.step()
    with torch.no_grad():
        val = -flow.log_prob(test).mean().item()
    if epoch % 4 == 3:
        print(f"epoch {epoch + 1} train nll {total / 20:+.3f} test nll {val:+.3f}")
print(f"final test nll {val:+.3f} nats")
