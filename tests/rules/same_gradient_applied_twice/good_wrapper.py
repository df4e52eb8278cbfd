import torch
from torch import nn
import torch.nn.functional as F


class Lookahead(torch.optim.Optimizer):
    def __init__(self, params, inner, every=5, share=0.5, **options):
        super().__init__(params, {"every": every, **options})
        self.inner = inner(self.param_groups, **options)
        self.every, self.share, self.made = every, share, 0
        self.slow = [p.detach().clone() for group in self.param_groups for p in group["params"]]

    @torch.no_grad()
    def step(self, closure=None):
        self.inner.step()
        self.made += 1
        if self.made % self.every == 0:
            fast = [p for group in self.param_groups for p in group["params"]]
            for kept, p in zip(self.slow, fast, strict=True):
                kept.lerp_(p, self.share)
                p.copy_(kept)


torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, :1] * x[:, 1:2]).sin()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = Lookahead(model.parameters(), torch.optim.SGD, lr=5e-2)
for epoch in range(6):
    for idx in torch.randperm(256).split(32):
        loss = F.mse_loss(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
