import torch
from torch import nn

torch.manual_seed(0)
RATE, SINK, START = 1.2, 0.2, 0.5
net = nn.Sequential(nn.Linear(1, 24), nn.Tanh(), nn.Linear(24, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=4e-3)


def slope(u, t):
    return torch.autograd.grad(u, t, torch.ones_like(u), retain_graph=True)[0]  # expect: WIR011


for step in range(60):
    t = torch.rand(64, 1, requires_grad=True)
    u = net(t)
    residual = slope(u, t) - RATE * u + SINK
    start = net(torch.zeros(1, 1)) - START
    loss = residual.square().mean() + 10 * start.square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
