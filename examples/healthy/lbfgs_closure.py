"""Tiny physics-informed fit with L-BFGS: the model is called many times per step, float64, loss ends near 1e-6."""
import torch
from torch import nn

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
# u'' = -u on [0, pi], u(0) = 0, u'(0) = 1  =>  u = sin(t)
t = torch.linspace(0, torch.pi, 40).unsqueeze(1).requires_grad_(True)
t0 = torch.zeros(1, 1, requires_grad=True)
net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 1))
opt = torch.optim.LBFGS(net.parameters(), lr=1.0, max_iter=20, history_size=20,
                        tolerance_grad=1e-12, tolerance_change=1e-14, line_search_fn="strong_wolfe")


def derivative(u, wrt):
    return torch.autograd.grad(u.sum(), wrt, create_graph=True)[0]


calls = 0


def closure():
    global calls
    calls += 1
    opt.zero_grad()
    u = net(t)
    residual = derivative(derivative(u, t), t) + u
    u0 = net(t0)
    start = u0.square().sum() + (derivative(u0, t0) - 1).square().sum()
    loss = residual.square().mean() + start
    loss.backward()
    return loss


for step in range(18):
    loss = opt.step(closure)
    if step % 4 == 0:
        print(f"step {step} loss {loss.item():.3e} closure calls {calls}")

with torch.no_grad():
    err = (net(t) - t.sin()).abs().max().item()
print(f"final loss {closure().item():.2e} max error against sin {err:.2e}")
