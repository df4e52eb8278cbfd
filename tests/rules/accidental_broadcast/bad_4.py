"""Quantiles of a forecast: each is cut out of the answers as a column of one, the targets are a plain row."""
import torch
from torch import nn


class Pinball(nn.Module):
    def __init__(self, quantiles=(0.1, 0.5, 0.9)):
        super().__init__()
        self.quantiles = quantiles

    def forward(self, answers, wanted):
        total = 0.0
        for i, q in enumerate(self.quantiles):
            gap = wanted - answers[:, i : i + 1]  # expect: LOS009
            total = total + torch.maximum(q * gap, (q - 1) * gap).mean()
        return total


torch.manual_seed(0)
x = torch.randn(512, 6)
y = x @ torch.tensor([1.0, -2.0, 0.5, 0.0, 3.0, 1.0])
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 3))
criterion, optimizer = Pinball(), torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(4):
    for rows in torch.randperm(len(x)).split(32):
        loss = criterion(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
