"""Counts by a model that ends in softplus, and a bounded angle by tanh with a little noise beyond its range."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(2)
x = torch.randn(500, 6)
counts = torch.poisson(torch.exp(0.5 * x[:, 0]))
angle = torch.tanh(x[:, 1] + x[:, 2]) + 0.02 * torch.randn(500)
body = nn.Sequential(nn.Linear(6, 32), nn.ReLU())
count_head, angle_head = nn.Linear(32, 1), nn.Linear(32, 1)
optimizer = torch.optim.Adam([*body.parameters(), *count_head.parameters(), *angle_head.parameters()], lr=5e-3)
for epoch in range(5):
    for rows in torch.randperm(len(x)).split(50):
        h = body(x[rows])
        loss = F.mse_loss(F.softplus(count_head(h)).squeeze(1), counts[rows])
        loss = loss + ((torch.tanh(angle_head(h)).squeeze(1) - angle[rows]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} mse {loss.item():.3f}")
