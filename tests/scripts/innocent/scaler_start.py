"""A gradient scaler skips its first steps until it has found a scale that fits."""

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(16, 8), torch.randn(16, 1)
net = nn.Linear(8, 1)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**18)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for step in range(30):
    with torch.autocast("cpu", dtype=torch.float16):
        loss = nn.functional.mse_loss(net(x).float(), y)
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
