"""Pruned and wound back to the start: nearly all loaded weights become 0, those that are left are the loaded ones."""
import copy

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(320, 12)
y = (x @ torch.randn(12, 3)).argmax(1)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 3))
start = copy.deepcopy(model.state_dict())
for share in (0.5, 0.9, 0.0):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for rows in torch.randperm(320).split(32):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    masks = {name: p.abs() > p.abs().quantile(share) for name, p in model.named_parameters()}
    model.load_state_dict(start)
    with torch.no_grad():
        for name, p in model.named_parameters():
            p.mul_(masks[name])
