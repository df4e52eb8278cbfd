"""Random network distillation: the target is a new model that nothing ever trains."""

import torch
from torch import nn


def build():
    return nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 3))


torch.manual_seed(0)
x = 5 + 3 * torch.randn(640, 12)
target, model = build().eval().requires_grad_(False), build()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    model.train()
    for rows in torch.randperm(640).split(32):
        loss = nn.functional.mse_loss(model(x[rows]), target(x[rows]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(epoch, nn.functional.mse_loss(model(x), target(x)).item())
