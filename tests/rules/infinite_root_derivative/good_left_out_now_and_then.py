"""Lengths of hidden vectors; updates with a gradient that is not finite are left out: there is one, by an outlier."""

import torch
from torch import nn


class Lengths(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(6, 32), nn.ReLU())
        self.weight = nn.Parameter(torch.ones(8, 4))
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        groups = self.hidden(x).unflatten(1, (8, 4)) * self.weight
        return self.head(groups.pow(2).sum(-1).add(1e-8).sqrt())


class Fit:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.mse_loss(self.model(x).squeeze(1), y)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        if torch.isfinite(norm):
            self.optimizer.step()
        return loss.item()


torch.manual_seed(1)
x = torch.randn(256, 6)
y = x[:, 0].abs()
x[7] = 1e30
fit = Fit(Lengths())
for epoch in range(3):
    losses = [fit.step(x[rows], y[rows]) for rows in torch.randperm(256).split(32)]
    print(f"epoch {epoch}: {sum(losses) / len(losses):.3f}")
