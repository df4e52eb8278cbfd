"""A scale that overflows in the first steps, with an optimizer that obeys the scaler's flag by itself."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
opt = torch.optim.AdamW(net.parameters(), lr=1e-2, fused=True)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127)
x = torch.randn(512, 8)
y = x[:, :1] * 2 + 0.1 * torch.randn(512, 1)
for _ in range(60):
    rows = torch.randint(0, 512, (64,))
    opt.zero_grad()
    loss = nn.functional.mse_loss(net(x[rows]), y[rows])
    scaler.scale(loss * 10).backward()
    scaler.step(opt)
    scaler.update()
print(loss.item(), scaler.get_scale())
