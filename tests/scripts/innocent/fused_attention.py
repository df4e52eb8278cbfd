"""`scaled_dot_product_attention` makes its own infinite mask."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x = torch.randn(2, 2, 6, 8)
net = nn.Linear(8, 8)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    h = net(x)
    loss = F.scaled_dot_product_attention(h, h, h, is_causal=True).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
