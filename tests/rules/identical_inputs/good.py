"""One column is constant on purpose (a bias column); the others differ."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.cat([torch.ones(800, 1), torch.randn(800, 7)], 1)
y = (x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    for rows in torch.randperm(len(x)).split(50):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
