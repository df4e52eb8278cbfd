"""Weights below 1 for rare findings, all the same: false alarms are dear, and somebody chose them so."""
import torch
from torch import nn

torch.manual_seed(3)
x = torch.randn(4000, 16)
mixed = x @ torch.randn(16, 6) / 4 + 0.4 * torch.randn(4000, 6)
y = (mixed > torch.tensor([0.6, 1.2, 1.4, 1.6, 1.8, 2.0])).float()
pos_weight = torch.full((6,), 0.25)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 6))
criterion = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(4):
    for rows in torch.randperm(4000).split(64):
        loss = criterion(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
