import torch
from torch import nn

torch.manual_seed(16)
x = torch.randn(50, 4)
growth = torch.rand(50, 1)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1, bias=False))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for rows in torch.arange(50).split(10):
    predicted = nn.functional.softplus(net(x[rows])).pow(1.5)
    loss = nn.functional.mse_loss(predicted, growth[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
