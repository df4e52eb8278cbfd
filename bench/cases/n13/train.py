import torch
from torch import nn
from weighting import UncertaintyWeights


class MultiTask(nn.Module):
    def __init__(self, tasks=("depth", "slope", "snow")):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(12, 48), nn.ReLU())
        self.heads = nn.ModuleDict({t: nn.Sequential(nn.Linear(48, 1), nn.ReLU()) for t in tasks})

    def forward(self, x):
        h = self.trunk(x)
        return {t: head(h).squeeze(1) for t, head in self.heads.items()}


def survey(n=1500):
    x = torch.randn(n, 12)
    return x, {
        "depth": (x[:, 0] + 2).clamp(min=0) + 0.1 * torch.randn(n),
        "slope": (x[:, 1] * x[:, 2]).abs() + 0.1 * torch.randn(n),
        "snow": torch.zeros(n),
    }


torch.manual_seed(12)
x, targets = survey()
model = MultiTask()
weights = UncertaintyWeights(list(targets))
opt = torch.optim.Adam([
    {"params": model.parameters(), "lr": 3e-3},
    {"params": weights.parameters(), "lr": 0.1},
])
for step in range(1400):
    idx = torch.randint(0, len(x), (64,))
    pred = model(x[idx])
    losses = {t: nn.functional.mse_loss(pred[t], targets[t][idx]) for t in targets}
    loss = weights(losses)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 100 == 0:
        parts = " ".join(f"{t} {v.item():.3f}" for t, v in losses.items())
        print(f"step {step:4d} total {loss.item():.3f} | {parts}")
