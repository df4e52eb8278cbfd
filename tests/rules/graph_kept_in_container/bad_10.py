"""A list that is the default of an argument is made once, and every call adds to it."""

import torch
from torch import nn


def smoothed(value, history=[]):  # noqa: B006
    history.append(value)  # expect: MEM001
    return sum(each.item() for each in history[-20:]) / 20


torch.manual_seed(0)
model = nn.Linear(16, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
for _ in range(120):
    x = torch.randn(32, 16)
    loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    mean = smoothed(loss)
print(mean)
