"""Mixup: soft targets whose rows sum to 1."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
plot = torch.randn(400, 16)
genre = (plot @ torch.randn(16, 6)).argmax(1)
one_hot = F.one_hot(genre, 6).float()
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 6))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(3):
    for rows in torch.randperm(len(plot)).split(40):
        other = rows[torch.randperm(len(rows))]
        part = torch.rand(len(rows), 1)
        mixed = part * plot[rows] + (1 - part) * plot[other]
        target = part * one_hot[rows] + (1 - part) * one_hot[other]
        loss = F.cross_entropy(model(mixed), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
