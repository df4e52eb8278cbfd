import torch
from torch import nn


class BatchSpread(nn.Module):
    """Adds the spread over the batch as a feature, as in progressive GANs."""

    def forward(self, x):
        spread = x.std(dim=0).mean()  # expect: NUM014
        return torch.cat([x, spread.expand(len(x), 1)], dim=1)


torch.manual_seed(11)
x, y = torch.randn(33, 4), torch.randn(33, 1)
net = nn.Sequential(nn.Linear(4, 6), BatchSpread(), nn.Linear(7, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for start in range(0, 33, 16):
    loss = nn.functional.mse_loss(net(x[start : start + 16]), y[start : start + 16])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
