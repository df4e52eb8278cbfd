"""Rows and labels of a batch are shuffled once more, each on its own."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(900, 10)
y = (x[:, :3].sum(1) > 0).long() + (x[:, 3] > 1).long()
model = nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Linear(48, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    for rows in torch.arange(len(x)).split(60):
        inputs = x[rows][torch.randperm(len(rows))]
        labels = y[rows][torch.randperm(len(rows))]  # expect: LOS030
        loss = F.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
