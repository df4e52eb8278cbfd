"""Counts kept as whole floats are cast without loss: nothing is cut off."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(800, 6)
visits = torch.poisson(torch.exp(0.5 * x[:, 0]))
model = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(8):
    for rows in torch.randperm(len(x)).split(50):
        wanted = visits[rows].long()
        loss = F.smooth_l1_loss(model(x[rows]).squeeze(1), wanted.float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
