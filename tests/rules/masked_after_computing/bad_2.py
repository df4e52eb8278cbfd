"""A loss by hand over weather that was not always recorded; `nanmean` skips the gaps, backward does not."""

import torch
from torch import nn

torch.manual_seed(0)
hours = torch.linspace(0, 20, 400)[:, None]
wind = hours.sin() + 0.1 * torch.randn(400, 1)
wind[250:260] = float("nan")
model = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(3):
    for rows in torch.arange(400).split(50):
        gap = torch.abs(model(hours[rows]) - wind[rows]) ** 1.5  # expect: NUM060
        loss = gap.nanmean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
