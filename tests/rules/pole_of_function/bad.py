import torch
from torch import nn


def logits_of(p):
    return torch.logit(p)  # expect: NUM031


torch.manual_seed(26)
x = torch.randn(100, 4) * 30
y = torch.randint(0, 2, (100, 1)).float()
net = nn.Sequential(nn.Linear(4, 1), nn.Sigmoid())
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for rows in torch.arange(100).split(25):
    loss = nn.functional.binary_cross_entropy_with_logits(logits_of(net(x[rows])), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
