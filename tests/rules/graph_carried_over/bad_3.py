"""A norm layer whose buffer is averaged with the graph of the inputs attached."""

import torch
from torch import nn


class ChannelScale(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.register_buffer("power", torch.ones(channels))

    def forward(self, x):
        if self.training:
            self.power = 0.9 * self.power + 0.1 * x.square().mean(0)  # expect: MEM002
        return x / x.square().mean(0).add(1e-5).sqrt()


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), ChannelScale(16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(60):
    x = torch.randn(32, 8)
    loss = (net(x).squeeze(1) - x[:, 0]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
