"""A warm-up of one's own that begins at the optimizer's rate, and sets an attribute of the optimizer from there on."""

import torch
from torch import nn


class WarmUp:
    def __init__(self, optimizer, low, high, steps):
        self.opt, self.low, self.high, self.steps = optimizer, low, high, steps

    def __call__(self, step):
        share = min(1.0, step / self.steps)
        self.opt.lr = self.low + share * (self.high - self.low)  # expect: WIR080


torch.manual_seed(0)
x = torch.randn(256, 6)
y = x[:, :1] * 2 - x[:, 1:2]
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
warm_up = WarmUp(optimizer, 1e-3, 0.1, 20)
for step in range(40):
    warm_up(step)
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"lr {optimizer.lr:.3f} loss {loss.item():.3f}")
