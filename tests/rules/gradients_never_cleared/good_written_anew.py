"""Gradients of single samples are cut and made noisy; what backward adds up beside them is overwritten unused."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 6)
y = (x.sum(1) > 0).float()
network = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
weights = list(network.parameters())
optimizer = torch.optim.SGD(weights, lr=0.2)


def loss_of(rows):
    return nn.functional.binary_cross_entropy_with_logits(network(x[rows]).squeeze(1), y[rows])


for step in range(60):
    rows = torch.randint(0, 256, (12,))
    total = [torch.zeros_like(weight) for weight in weights]
    for row in rows:
        single = torch.autograd.grad(loss_of(row[None]), weights)
        size = torch.stack([part.norm() for part in single]).norm()
        for kept, part in zip(total, single):
            kept += part / max(1.0, size.item())
    loss = loss_of(rows)
    loss.backward()
    for weight, kept in zip(weights, total):
        weight.grad = (kept + 0.3 * torch.randn_like(kept)) / len(rows)
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.item())
