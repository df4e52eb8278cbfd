import torch
from torch import nn


class Whitening(nn.Module):
    """Decorrelates features by the Cholesky factor of their covariance."""

    def forward(self, x):
        centred = x - x.mean(0)
        covariance = centred.t() @ centred
        growth = covariance.cumsum(0).cumprod(0)  # expect: NUM001
        return x @ (growth / growth.norm())


torch.manual_seed(0)
x = torch.randn(64, 24) * 30
y = torch.randn(64, 1)
net = nn.Sequential(nn.Linear(24, 24), Whitening(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(5):
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
