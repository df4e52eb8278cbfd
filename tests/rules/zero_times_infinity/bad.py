import torch
from torch import nn

torch.manual_seed(20)
x = torch.randn(24, 6)
chosen = torch.zeros(24, 4).scatter(1, torch.randint(0, 4, (24, 1)), 1.0)
net = nn.Linear(6, 4)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    scores = net(x).masked_fill(chosen == 0, float("-inf"))
    loss = -(scores * chosen).sum(1).mean()  # expect: NUM023
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
