"""The losses of the last steps, and no more of them: a window that moves on is no leak."""

from collections import deque

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(16, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
recent = deque(maxlen=40)
for step in range(240):
    x = torch.randn(32, 16)
    loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    recent.append(loss)
    if step % 40 == 39:
        print(sum(recent).item() / len(recent))
