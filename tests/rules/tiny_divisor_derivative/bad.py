import torch
from torch import nn


class Weighted(nn.Module):
    """A value and how sure the network is of it, as a variance."""

    def __init__(self):
        super().__init__()
        self.value, self.spread = nn.Linear(4, 1), nn.Linear(4, 1)
        nn.init.constant_(self.spread.bias, -60.0)

    def forward(self, x):
        variance = torch.exp(self.spread(x))
        return self.value(x) / variance  # expect: NUM035


torch.manual_seed(30)
x = torch.randn(40, 4)
net = Weighted()
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for step in range(3):
    loss = torch.tanh(net(x)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
