"""Noisy labels: the loss stays near that of a constant answer, but the answers do tell something."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
features = torch.randn(4000, 12)
chance = torch.sigmoid(0.6 * (features[:, 0] + features[:, 1]))
labels = (torch.rand(4000) < chance).long()
model = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(10):
    for rows in torch.randperm(len(features)).split(100):
        loss = F.cross_entropy(model(features[rows]), labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
