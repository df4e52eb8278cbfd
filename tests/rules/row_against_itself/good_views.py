import torch
import torch.nn.functional as F
from torch import nn


def contrast(first, second, temperature=0.2):
    """One view against the other, and a kernel of all pairs that says how far apart two batches are."""
    one, other = F.normalize(first, dim=1), F.normalize(second, dim=1)
    scores = one @ other.t() / temperature
    kernels = [torch.exp(a @ b.t() - 1) for a, b in ((one, one), (other, other), (one, other))]
    apart = kernels[0].sum(1).mean() + kernels[1].sum(1).mean() - 2 * kernels[2].sum(1).mean()
    return F.cross_entropy(scores, torch.arange(len(one))) + 0.01 * apart


torch.manual_seed(0)
x = torch.randn(5, 16)[torch.randint(0, 5, (640,))] + 0.3 * torch.randn(640, 16)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    for rows in torch.randperm(640).split(64):
        first, second = (model(x[rows] + 0.2 * torch.randn(64, 16)) for _ in range(2))
        loss = contrast(first, second)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
