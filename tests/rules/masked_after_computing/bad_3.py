"""`where` chooses 0 for missing targets after the error was computed with them."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def step_loss(net, batch):
    inputs, targets = batch
    error = F.smooth_l1_loss(net(inputs), targets, reduction="none")  # expect: NUM060
    return torch.where(targets.isnan(), torch.zeros_like(error), error).mean()


torch.manual_seed(0)
x = torch.randn(256, 6)
y = x[:, :3] * 2
y[130::9] = float("nan")
net = nn.Linear(6, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for batch in DataLoader(TensorDataset(x, y), batch_size=32):
    loss = step_loss(net, batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
