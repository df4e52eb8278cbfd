import torch
from torch import nn

torch.manual_seed(25)
x, y = torch.randn(64, 4), torch.randn(64, 1) * 1e4
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for step in range(2):
    loss = nn.functional.mse_loss(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
