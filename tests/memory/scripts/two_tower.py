"""Two-tower retrieval with in-batch negatives and bags of item features."""

import argparse

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

ap = argparse.ArgumentParser()
ap.add_argument("--batch", type=int, default=4096)
ap.add_argument("--dim", type=int, default=128)
cfg = ap.parse_args()
USERS, ITEMS, TAGS = 200_000, 100_000, 5_000
dev = torch.device("cuda")


class Tower(nn.Module):
    def __init__(self, n, tags=None):
        super().__init__()
        self.id = nn.Embedding(n, cfg.dim)
        self.tags = nn.EmbeddingBag(tags, cfg.dim, mode="mean") if tags else None
        width = cfg.dim * (2 if tags else 1)
        self.mlp = nn.Sequential(nn.Linear(width, 512), nn.ReLU(), nn.Dropout(0.1), nn.Linear(512, cfg.dim))

    def forward(self, ids, flat=None, offsets=None):
        h = self.id(ids)
        if self.tags is not None:
            h = torch.cat([h, self.tags(flat, offsets)], 1)
        return F.normalize(self.mlp(h), dim=-1)


def batches(rng):
    while True:
        users, items = rng.integers(0, USERS, cfg.batch), rng.integers(0, ITEMS, cfg.batch)
        counts = rng.integers(1, 9, cfg.batch)
        flat = rng.integers(0, TAGS, counts.sum())
        offsets = np.concatenate([[0], np.cumsum(counts)[:-1]])
        yield tuple(torch.from_numpy(a).to(dev, non_blocking=True) for a in (users, items, flat, offsets))


torch.manual_seed(1)
user, item = Tower(USERS).to(dev), Tower(ITEMS, TAGS).to(dev)
params = [*user.parameters(), *item.parameters()]
opt = torch.optim.Adam(params, lr=1e-3)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 100)
for step, (u, i, flat, off) in zip(range(5), batches(np.random.default_rng(0)), strict=False):
    scores = user(u) @ item(i, flat, off).T / 0.05
    same = i[None, :] == i[:, None]
    same.fill_diagonal_(False)
    scores = scores.masked_fill(same, -1e4)
    loss = F.cross_entropy(scores, torch.arange(len(u), device=dev))
    opt.zero_grad()
    loss.backward()
    opt.step()
    sched.step()
    with torch.no_grad():
        hit = (scores.argmax(1) == torch.arange(len(u), device=dev)).float().mean()
    print(step, float(loss), float(hit), sched.get_last_lr())
