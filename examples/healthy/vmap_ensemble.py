"""Ten networks trained at once: stacked parameters, vmap over functional_call, the skeleton module itself never learns."""
import copy

import torch
from torch import nn
import torch.nn.functional as F
from torch.func import functional_call, grad_and_value, stack_module_state, vmap

torch.manual_seed(0)
N = 10
x = torch.empty(800, 2).uniform_(-1, 1)
y = torch.sin(3 * x[:, :1]) * x[:, 1:] + 0.02 * torch.randn(800, 1)
x_test = torch.empty(300, 2).uniform_(-1, 1)
y_test = torch.sin(3 * x_test[:, :1]) * x_test[:, 1:]

nets = [nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1)) for _ in range(N)]
params, buffers = stack_module_state(nets)
skeleton = copy.deepcopy(nets[0]).to("meta")


def member_loss(p, b, xb, yb):
    return F.mse_loss(functional_call(skeleton, (p, b), (xb,)), yb)


per_member = vmap(grad_and_value(member_loss), in_dims=(0, 0, 0, 0))
opt = torch.optim.Adam(params.values(), lr=5e-3)
for step in range(1, 601):
    rows = torch.randint(800, (N, 64))  # every member has its own bootstrap batch
    grads, losses = per_member({k: v.detach() for k, v in params.items()}, buffers, x[rows], y[rows])
    for k, p in params.items():
        p.grad = grads[k]
    opt.step()
    if step % 120 == 0:
        print(f"step {step} loss mean {losses.mean():.5f} worst {losses.max():.5f}")

with torch.no_grad():
    out = vmap(lambda p, b: functional_call(skeleton, (p, b), (x_test,)))(params, buffers)
    single = (out - y_test).square().mean(dim=(1, 2))
    ensemble = F.mse_loss(out.mean(0), y_test).item()
print(f"final ensemble mse {ensemble:.5f}, mean single mse {single.mean():.5f}")
