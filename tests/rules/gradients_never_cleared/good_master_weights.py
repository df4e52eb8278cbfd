"""A bfloat16 network with weights in float32 beside it: their gradients are written anew at every step."""
import torch
from torch import nn


class Float32Copy:
    """Steps on float32 copies of half-precision weights; nothing but this class ever sets the gradients of the copies."""

    def __init__(self, halves, scale=256.0):
        self.halves = list(halves)
        self.copies = [half.detach().float().clone().requires_grad_() for half in self.halves]
        self.inner = torch.optim.AdamW(self.copies, lr=3e-3)
        self.scale = scale

    def backward(self, loss):
        (loss * self.scale).backward()

    def step(self):
        for full, half in zip(self.copies, self.halves):
            full.grad = half.grad.float() / self.scale
            half.grad = None
        nn.utils.clip_grad_norm_(self.copies, 1.0)
        self.inner.step()
        with torch.no_grad():
            torch._foreach_copy_(self.halves, self.copies)


torch.manual_seed(0)
x = torch.randn(320, 12)
y = (x[:, 0] * x[:, 1] > 0).long()
network = nn.Sequential(nn.Linear(12, 48), nn.GELU(), nn.Linear(48, 2)).to(torch.bfloat16)
optimizer = Float32Copy(network.parameters())
for epoch in range(6):
    for rows in torch.randperm(320).split(40):
        loss = nn.functional.cross_entropy(network(x[rows].bfloat16()).float(), y[rows])
        optimizer.backward(loss)
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
