"""Mixup: a second permutation of the labels is right, because the inputs are mixed with it too."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(900, 10)
y = (x[:, :3].sum(1) > 0).long() + (x[:, 3] > 1).long()
model = nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Linear(48, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    for rows in torch.randperm(len(x)).split(60):
        inputs, labels = x[rows], y[rows]
        partner = torch.randperm(len(rows))
        share = 0.8
        out = model(share * inputs + (1 - share) * inputs[partner])
        loss = share * F.cross_entropy(out, labels) + (1 - share) * F.cross_entropy(out, labels[partner])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
