"""MAML: the inner update is built by hand with create_graph, parameters used through functional_call."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.func import functional_call

torch.manual_seed(0)


def sample_task(n=10):
    amp, phase = 1.0 + 2.0 * torch.rand(1), torch.pi * torch.rand(1)
    draw = lambda: 10 * torch.rand(n, 1) - 5
    xs, xq = draw(), draw()
    return xs, amp * torch.sin(xs + phase), xq, amp * torch.sin(xq + phase)


def adapt(net, xs, ys, steps, lr=0.03, second_order=True):
    fast = dict(net.named_parameters())
    for _ in range(steps):
        loss = F.mse_loss(functional_call(net, fast, (xs,)), ys)
        grads = torch.autograd.grad(loss, list(fast.values()), create_graph=second_order)
        fast = {k: p - lr * g for (k, p), g in zip(fast.items(), grads)}
    return fast


def evaluate(net, tasks):
    before, after = [], []
    for xs, ys, xq, yq in tasks:
        fast = adapt(net, xs, ys, 5, second_order=False)
        with torch.no_grad():
            before.append(F.mse_loss(net(xq), yq))
            after.append(F.mse_loss(functional_call(net, fast, (xq,)), yq))
    return torch.stack(before).mean().item(), torch.stack(after).mean().item()


net = nn.Sequential(nn.Linear(1, 40), nn.ReLU(), nn.Linear(40, 40), nn.ReLU(), nn.Linear(40, 1))
meta = torch.optim.Adam(net.parameters(), lr=2e-3)
run = []
held_out = [sample_task() for _ in range(50)]
print("untrained: before %.3f after %.3f" % evaluate(net, held_out))
for it in range(1, 301):
    meta.zero_grad()
    loss = 0.0
    for _ in range(6):
        xs, ys, xq, yq = sample_task()
        fast = adapt(net, xs, ys, 1)
        loss = loss + F.mse_loss(functional_call(net, fast, (xq,)), yq) / 6
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 10.0)
    meta.step()
    run.append(loss.item())
    if it % 100 == 0:
        print(f"iter {it} meta loss {sum(run[-100:]) / 100:.3f} held-out before/after: %.3f %.3f" % evaluate(net, held_out))
print("final held-out mse after 5 adaptation steps %.3f" % evaluate(net, held_out)[1])
