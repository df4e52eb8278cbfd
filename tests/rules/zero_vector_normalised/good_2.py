import torch
from torch import nn


class LayerwiseSgd(torch.optim.Optimizer):
    """Scales every update to the size of its layer's weights."""

    def __init__(self, params, lr=0.01):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                size = p.grad.norm()
                trust = p.norm() / size if size > 0 else 1.0
                p.sub_(p.grad * trust, alpha=group["lr"])


class Experts(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(6, 1) for _ in range(3))

    def forward(self, x, choice):
        every = torch.cat([expert(x) for expert in self.experts], dim=1)
        return every.gather(1, choice[:, None])


torch.manual_seed(0)
model = Experts()
optimizer = LayerwiseSgd(model.parameters())
x, choice = torch.randn(64, 6), torch.randint(0, 2, (64,))
y = x.sum(1, keepdim=True)
for step in range(20):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x, choice), y)
    loss.backward()
    optimizer.step()
print(loss.item())
