"""BYOL on digits: target network never gets a gradient, only an EMA; the loss is negative cosine similarity."""
import copy

import torch
from torch import nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression

torch.manual_seed(0)
data = load_digits()
x = torch.tensor(data.data / 16.0, dtype=torch.float32)
y = data.target
order = torch.randperm(len(x))
train_idx, test_idx = order[:1300], order[1300:]


def augment(v):
    img = v.view(-1, 8, 8)
    dx, dy = torch.randint(-1, 2, (2,)).tolist()
    img = torch.roll(img, (dx, dy), dims=(1, 2)).reshape(len(v), 64)
    keep = (torch.rand_like(img) > 0.2).float()
    return img * keep + 0.1 * torch.randn_like(img)


def block(i, h, o):
    return nn.Sequential(nn.Linear(i, h), nn.BatchNorm1d(h), nn.ReLU(), nn.Linear(h, o))


online_enc, online_proj, predictor = block(64, 128, 64), block(64, 64, 32), block(32, 64, 32)
target_enc, target_proj = copy.deepcopy(online_enc), copy.deepcopy(online_proj)
for p in [*target_enc.parameters(), *target_proj.parameters()]:
    p.requires_grad_(False)
online = [*online_enc.parameters(), *online_proj.parameters()]
target = [*target_enc.parameters(), *target_proj.parameters()]
opt = torch.optim.AdamW([*online, *predictor.parameters()], lr=2e-3, weight_decay=1e-4)


def agree(a, b):
    return -F.cosine_similarity(predictor(online_proj(online_enc(a))), target_proj(target_enc(b)).detach(), dim=1).mean()


def probe():
    online_enc.eval()
    with torch.no_grad():
        h = online_enc(x).numpy()
    online_enc.train()
    clf = LogisticRegression(max_iter=500).fit(h[train_idx], y[train_idx])
    return clf.score(h[test_idx], y[test_idx])


for epoch in range(15):
    total = 0.0
    for b in train_idx[torch.randperm(len(train_idx))].split(100):
        v1, v2 = augment(x[b]), augment(x[b])
        loss = 0.5 * (agree(v1, v2) + agree(v2, v1))
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for t, o in zip(target, online):
                t.lerp_(o, 0.02)
        total += loss.item()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} loss {total / 13:.4f}")

print(f"final linear probe accuracy {probe():.3f}")
