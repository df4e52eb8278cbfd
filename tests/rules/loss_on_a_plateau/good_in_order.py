"""Neighbouring batches hold similar rows, so that their gradients agree, but those of distant ones do not."""
import torch
from torch import nn

torch.manual_seed(0)
hours = torch.linspace(0, 60, 3000).unsqueeze(1)
load = torch.sin(hours) + 0.1 * torch.randn(3000, 1)
features = torch.cat([torch.cos(hours / 7), torch.sin(hours / 5), torch.randn(3000, 2)], dim=1)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.002)
for epoch in range(10):
    for start in range(0, len(hours), 50):
        rows = slice(start, start + 50)
        loss = nn.functional.mse_loss(model(features[rows]), load[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    optimizer.param_groups[0]["lr"] *= 0.4
    print(f"epoch {epoch} loss {loss.item():.4f}")
