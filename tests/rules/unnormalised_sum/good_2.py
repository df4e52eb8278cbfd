"""Sums over many parts whose first answers are far out, and which are learned all the same."""

import torch
from torch import nn


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Linear(4, 1)
        self.whole = nn.Linear(1, 1)

    def forward(self, parts):
        return self.whole(self.part(parts).sum(1))


torch.manual_seed(0)
model = Bag()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
for step in range(150):
    parts = torch.rand(64, 500, 4) + 2
    wanted = (parts.mean(1) - 2.5).sum(1, keepdim=True)
    loss = (model(parts) - wanted).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(f"step {step} loss {loss.item():.3g}")
