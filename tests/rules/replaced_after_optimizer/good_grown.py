"""The model grows while it trains and keeps copies of its best; the optimizer is given what is new."""

import copy

import torch
from torch import nn

torch.manual_seed(0)
stem, out = nn.Linear(8, 32), nn.Linear(32, 1)
blocks = nn.ModuleList([nn.Linear(32, 32)])
optimizer = torch.optim.Adam([*stem.parameters(), *blocks.parameters(), *out.parameters()], lr=2e-3)
truth, best = torch.randn(8, 1), []
for stage in range(3):
    if stage:
        blocks.append(nn.Linear(32, 32))
        optimizer.add_param_group({"params": blocks[-1].parameters()})
    for _ in range(60):
        x = torch.randn(32, 8)
        h = torch.relu(stem(x))
        for block in blocks:
            h = h + torch.relu(block(h))
        loss = nn.functional.mse_loss(out(h), torch.tanh(x @ truth))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    best.append(copy.deepcopy(blocks))
    print(f"stage {stage} loss {loss.item():.3f}")
