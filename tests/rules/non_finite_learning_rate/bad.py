import numpy as np
import torch
from torch import nn

BASE, TOTAL = 0.1, 20


def decayed(step):
    with np.errstate(invalid="ignore"):
        rate = BASE * np.power(1.0 - step / TOTAL, 0.9)  # expect: NUM027
    return float(rate)


torch.manual_seed(24)
x, y = torch.randn(64, 5), torch.randn(64, 1)
net = nn.Linear(5, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=BASE)
for step in range(30):
    for group in optimizer.param_groups:
        group["lr"] = decayed(step)
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
