"""A penalty with a backward of its own: the total that is reported adds its number to the other loss."""

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(512, 12)
y = (x[:, 0] > 0).long()
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    for rows in torch.randperm(512).split(64):
        logits = model(x[rows])
        penalty = 0.1 * logits.square().mean()
        optimizer.zero_grad()
        penalty.backward(retain_graph=True)
        loss = F.cross_entropy(logits, y[rows]) + penalty.item()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
