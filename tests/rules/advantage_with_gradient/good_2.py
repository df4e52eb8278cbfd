"""A normalising flow: what its own `log_prob` multiplies are no log-probabilities."""
import torch
from torch import nn


class Coupling(nn.Module):
    def __init__(self, layers=4, hidden=32):
        super().__init__()
        self.nets = nn.ModuleList(
            nn.Sequential(nn.Linear(1, hidden), nn.Tanh(), nn.Linear(hidden, 2)) for _ in range(layers)
        )

    def log_prob(self, x):
        log_det = 0
        for i, net in enumerate(self.nets):
            kept, moved = (x[:, :1], x[:, 1:]) if i % 2 == 0 else (x[:, 1:], x[:, :1])
            scale, shift = net(kept).chunk(2, 1)
            scale = torch.tanh(scale)
            moved = (moved - shift) * torch.exp(-scale)
            log_det = log_det - scale.squeeze(1)
            x = torch.cat([kept, moved], 1) if i % 2 == 0 else torch.cat([moved, kept], 1)
        return torch.distributions.Normal(0, 1).log_prob(x).sum(1) + log_det


torch.manual_seed(0)
flow = Coupling()
optimizer = torch.optim.Adam(flow.parameters(), lr=5e-3)
for step in range(120):
    x = 0.05 * torch.randn(256, 2)
    x[:, 1] += x[:, 0] ** 2
    loss = -flow.log_prob(x).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
