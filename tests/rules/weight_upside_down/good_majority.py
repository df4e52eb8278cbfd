"""Positives are the majority, and are weighted down; beside it a loss whose classes all have weight 1."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(2000, 8)
y = (x[:, :1] + 0.5 * torch.randn(2000, 1) > -1.2).float()
kind = (x[:, 1] > 1.3).long()
pos_weight = (1 - y).sum() / y.sum()
weight = torch.ones(2)
body, one, two = nn.Linear(8, 32), nn.Linear(32, 1), nn.Linear(32, 2)
optimizer = torch.optim.Adam([*body.parameters(), *one.parameters(), *two.parameters()], lr=2e-3)
for epoch in range(6):
    for rows in torch.randperm(2000).split(100):
        hidden = torch.relu(body(x[rows]))
        loss = F.binary_cross_entropy_with_logits(one(hidden), y[rows], pos_weight=pos_weight)
        loss = loss + F.cross_entropy(two(hidden), kind[rows], weight=weight)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
