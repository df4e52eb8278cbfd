import torch
from torch import nn

torch.manual_seed(22)
x = torch.randn(400, 10) * 3
y = x.sum(1, keepdim=True)
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3, momentum=0.9)
for step in range(200):
    rows = torch.randint(0, 400, (64,))
    loss = nn.functional.mse_loss(net(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
