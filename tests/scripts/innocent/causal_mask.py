"""Causal attention: half of the scores are minus infinity by design."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(4, 6, 8)
net = nn.Linear(8, 24)
head = nn.Linear(8, 8)
optimizer = torch.optim.Adam([*net.parameters(), *head.parameters()], lr=1e-3)
causal = torch.full((6, 6), float("-inf")).triu(1)
for step in range(4):
    q, k, v = net(x).chunk(3, dim=-1)
    weights = torch.softmax(q @ k.transpose(1, 2) + causal, dim=-1)
    loss = (head(weights @ v) - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
