"""Stochastic depth plus activation checkpointing: blocks are skipped at random, forwards run twice in training."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint
from sklearn.datasets import load_digits


class Residual(nn.Module):
    def __init__(self, dim, keep):
        super().__init__()
        self.keep = keep
        self.body = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim), nn.GELU(), nn.Dropout(0.1), nn.Linear(dim, dim))
        self.gamma = nn.Parameter(torch.full((dim,), 1e-1))

    def forward(self, x):
        if not self.training:
            return x + self.gamma * self.body(x)
        if torch.rand(()).item() > self.keep:
            return x  # whole block left out: its parameters get no gradient this step
        return x + self.gamma * checkpoint(self.body, x, use_reentrant=False) / self.keep


class Net(nn.Module):
    def __init__(self, dim=64, depth=5):
        super().__init__()
        self.stem = nn.Linear(64, dim)
        self.blocks = nn.ModuleList(Residual(dim, 1.0 - 0.5 * i / (depth - 1)) for i in range(depth))
        self.head = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, 10))

    def forward(self, x):
        x = self.stem(x)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


torch.manual_seed(0)
d = load_digits()
x, y = torch.tensor(d.data / 16.0, dtype=torch.float32), torch.tensor(d.target)
perm = torch.randperm(len(x))
tr, te = perm[:1400], perm[1400:]
model = Net()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
for epoch in range(8):
    model.train()
    total = 0.0
    for b in tr[torch.randperm(len(tr))].split(100):
        loss = F.cross_entropy(model(x[b]), y[b], label_smoothing=0.05)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        acc = (model(x[te]).argmax(1) == y[te]).float().mean().item()
    if epoch % 2 == 1:
        print(f"epoch {epoch + 1} loss {total / 14:.4f} test acc {acc:.3f}")
print(f"final test accuracy {acc:.3f}")
