"""Numbers taken out of a loss that weigh, shift and report it; what they are taken from is trained by its own term."""

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(512, 12)
y = torch.stack([x[:, 0] * x[:, 1], x[:, 2].sin()], dim=1)
trunk = nn.Sequential(nn.Linear(12, 32), nn.Tanh())
heads = nn.ModuleList(nn.Linear(32, 1) for _ in range(2))
optimizer = torch.optim.Adam([*trunk.parameters(), *heads.parameters()], lr=3e-3)
seen = 0.0
for epoch in range(6):
    for rows in torch.randperm(512).split(64):
        features = trunk(x[rows])
        errors = [F.mse_loss(head(features).squeeze(1), y[rows, at]) for at, head in enumerate(heads)]
        worst = max(error.item() for error in errors)
        shares = torch.softmax(torch.tensor(errors) / worst, dim=0)
        weighed = sum(share * error for share, error in zip(shares, errors))
        # Flooding: the loss is held above a level, and the reported number stays comparable.
        loss = (weighed - 0.001).abs() + 0.001 + 0.01 * (errors[0] - errors[0].item())
        seen += loss.item() + 0.1 * features.square().mean().item()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} worst {worst:.3f} loss {loss.item():.3f} seen {seen:.1f}")
