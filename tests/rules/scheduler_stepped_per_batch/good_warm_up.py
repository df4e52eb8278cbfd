"""A warm-up over the first batches beside a schedule over epochs."""

import torch
from torch import nn
from torch.optim.lr_scheduler import LinearLR, MultiStepLR

torch.manual_seed(0)
rows = torch.randn(640, 8)
kinds = (rows[:, 0] + rows[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
warm_up = LinearLR(optimizer, start_factor=0.1, total_iters=15)
drops = MultiStepLR(optimizer, milestones=[5, 7], gamma=0.2)
for epoch in range(9):
    for part in torch.randperm(640).split(32):
        loss = nn.functional.cross_entropy(model(rows[part]), kinds[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        warm_up.step()
    drops.step()
