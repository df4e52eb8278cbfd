import torch
from torch import nn


class Rate(nn.Module):
    """Poisson rate of visits, as the exponential of a linear score."""

    def __init__(self, features):
        super().__init__()
        self.score = nn.Linear(features, 1)

    def forward(self, x):
        return torch.exp(self.score(x))  # expect: NUM010


torch.manual_seed(7)
income = torch.randn(90, 3) * 200
visits = torch.poisson(torch.full((90, 1), 3.0))
net = Rate(3)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-6)
for rows in torch.arange(90).split(30):
    rate = net(income[rows])
    loss = (rate - visits[rows] * torch.log(rate + 1e-8)).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
