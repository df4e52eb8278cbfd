"""Binarised network: sign() in a custom autograd Function with a clipped gradient, trained by a home-made Lion-like optimizer."""
import torch
from torch import nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class SignSTE(torch.autograd.Function):
    @staticmethod
    def forward(ctx, w):
        ctx.save_for_backward(w)
        return torch.where(w >= 0, 1.0, -1.0)

    @staticmethod
    def backward(ctx, grad):
        (w,) = ctx.saved_tensors
        return grad * (w.abs() <= 1).to(grad.dtype)


class BinaryLinear(nn.Linear):
    def forward(self, x):
        w = SignSTE.apply(self.weight)
        return F.linear(x, w * self.weight.detach().abs().mean(), self.bias)


class SignMomentum(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.99)):
        super().__init__(params, {"lr": lr, "betas": betas})

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            b1, b2 = group["betas"]
            for p in group["params"]:
                if p.grad is None:
                    continue
                state = self.state[p]
                if not state:
                    state["m"] = torch.zeros_like(p)
                p.sub_(torch.sign(state["m"] * b1 + p.grad * (1 - b1)), alpha=group["lr"])
                state["m"].lerp_(p.grad, 1 - b2)
        return loss


torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data / 8.0 - 1.0, dtype=torch.float32), torch.tensor(d.target)
perm = torch.randperm(len(x))
tr, te = perm[:1400], perm[1400:]
model = nn.Sequential(nn.Linear(64, 128), nn.BatchNorm1d(128), nn.ReLU(), BinaryLinear(128, 128),
                      nn.BatchNorm1d(128), nn.ReLU(), nn.Linear(128, 10))
opt = SignMomentum(model.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.LinearLR(opt, 1.0, 0.05, total_iters=9)
for epoch in range(9):
    model.train()
    total = 0.0
    for b in tr[torch.randperm(len(tr))].split(70):
        loss = F.cross_entropy(model(x[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    sched.step()
    model.eval()
    with torch.no_grad():
        acc = (model(x[te]).argmax(1) == y[te]).float().mean().item()
    if epoch % 3 == 2:
        print(f"epoch {epoch + 1} loss {total / 20:.4f} test acc {acc:.3f}")
print(f"final test accuracy {acc:.3f}")
