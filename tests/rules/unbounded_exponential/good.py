"""The same with a logarithm of the rate that is bounded."""

import torch
from torch import nn


class Rate(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        log_rate = self.net(x).squeeze(1).clamp(max=5.0)
        return log_rate, torch.exp(log_rate)


torch.manual_seed(0)
x = torch.randn(4000, 3)
counts = torch.poisson((0.5 + 0.6 * x[:, 0] - 0.3 * x[:, 1]).exp())
x[3300, 0] = 80.0
model = Rate()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for step, rows in enumerate(torch.arange(4000).split(32)):
    log_rate, rate = model(x[rows])
    loss = (rate - counts[rows] * log_rate).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.3f}")
