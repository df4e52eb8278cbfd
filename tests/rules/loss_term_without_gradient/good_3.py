import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)


def slope(u, t):
    return torch.autograd.grad(u.sum(), t, create_graph=True)[0]


# A falling stone: the speed grows by 9.8 in a second, and it starts from rest.
for step in range(60):
    t = torch.rand(64, 1, requires_grad=True)
    start = torch.zeros(1, 1)
    physics = (slope(net(t), t) - 9.8).square().mean()
    at_rest = net(start).square().mean()
    loss = at_rest + 0.1 * physics
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print(f"step {step} physics {physics.item():.3f} start {at_rest.item():.4f}")
