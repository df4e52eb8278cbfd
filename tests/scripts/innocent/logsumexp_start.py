"""A forward algorithm starts from minus infinity and adds in log space."""

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(5, 3)
x = torch.randn(6, 5)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(4):
    emission = net(x).log_softmax(1)
    alpha = torch.full((3,), float("-inf"))
    alpha[0] = 0.0
    for row in emission:
        stay, move = alpha, torch.cat([torch.full((1,), float("-inf")), alpha[:-1]])
        alpha = torch.logaddexp(stay, move).nan_to_num(neginf=-1e4) + row
    loss = -torch.logsumexp(alpha, 0)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
