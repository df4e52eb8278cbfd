import math
import torch
import torch.nn as nn
import torch.nn.functional as F


class CharCNN(nn.Module):
    def __init__(self, vocab, width=24):
        super().__init__()
        self.emb = nn.Embedding(vocab, width)
        self.conv = nn.Conv1d(width, 32, 3, padding=1)
        self.out = nn.Linear(32, 3)

    def forward(self, ids):
        h = self.emb(ids).transpose(1, 2)
        h = F.relu(self.conv(h))
        scores = nn.Linear(32, 1)(h.transpose(1, 2))
        weights = torch.softmax(scores, dim=1)
        pooled = (h.transpose(1, 2) * weights).sum(1)
        return self.out(pooled)


def codes(n, length=24, vocab=20, seed=0):
    """class is given by the symbol that follows the only marker token"""
    g = torch.Generator().manual_seed(seed)
    ids = torch.randint(4, vocab, (n, length), generator=g)
    pos = torch.randint(0, length - 1, (n,), generator=g)
    y = torch.randint(0, 3, (n,), generator=g)
    rows = torch.arange(n)
    noise = torch.randint(1, 4, (n, 6), generator=g)
    for k in range(6):
        ids[rows, torch.randint(0, length, (n,), generator=g)] = noise[:, k]
    ids[rows, pos] = 0
    ids[rows, pos + 1] = y + 1
    return ids, y


torch.manual_seed(5)
ids, y = codes(1500, seed=1)
ids_te, y_te = codes(500, seed=2)
model = CharCNN(20)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
steps = math.ceil(len(ids) / 50)
for epoch in range(12):
    order = torch.randperm(len(ids))
    avg = 0.0
    for s in range(steps):
        b = order[s * 50:(s + 1) * 50]
        loss = F.cross_entropy(model(ids[b]), y[b])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        avg += loss.item() / steps
    with torch.no_grad():
        acc = (model(ids_te).argmax(1) == y_te).float().mean()
    print(f"epoch {epoch:2d} loss {avg:.4f} test acc {acc:.3f}")
