"""The boundary value of an equation is written down as a constant: nothing is wrong with it."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
start, zero = torch.zeros(32, 1), torch.zeros(32, 1)
for step in range(60):
    time = torch.rand(32, 1, requires_grad=True)
    value = net(time)
    slope = torch.autograd.grad(value.sum(), time, create_graph=True)[0]
    loss = nn.functional.mse_loss(slope + value, zero) + nn.functional.mse_loss(net(start), torch.ones(32, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.5f}")
