from collections import Counter

import torch
from torch import nn

LINES = """red fox runs over the hill
the old dog sleeps near the door
a small bird sings over the lake
the red bird runs near the hill
a dog and a fox meet near the lake
the old fox sings and the small dog runs""".splitlines() * 12
LINES += ["a heron sleeps near the old mill"]


class Vocabulary:
    def __init__(self, lines):
        counts = Counter(w for line in lines for w in line.split())
        self.index = {w: i for i, (w, _) in enumerate(counts.most_common(), start=1)}

    def __len__(self):
        return len(self.index)

    def encode(self, line):
        return [self.index[w] for w in line.split()]


def skipgrams(vocab, lines, window=2):
    for line in lines:
        ids = vocab.encode(line)
        for i, c in enumerate(ids):
            for j in range(max(0, i - window), min(len(ids), i + window + 1)):
                if i != j:
                    yield c, ids[j]


class SkipGram(nn.Module):
    def __init__(self, size, dim=16):
        super().__init__()
        self.center = nn.Embedding(size, dim)
        self.context = nn.Embedding(size, dim)

    def forward(self, c, o, neg):
        v = self.center(c)
        pos = (v * self.context(o)).sum(1)
        bad = torch.einsum("bd,bkd->bk", v, self.context(neg))
        return -(nn.functional.logsigmoid(pos).mean() + nn.functional.logsigmoid(-bad).mean())


torch.manual_seed(0)
vocab = Vocabulary(LINES)
pairs = torch.tensor(list(skipgrams(vocab, LINES)))
model = SkipGram(len(vocab))
opt = torch.optim.Adagrad(model.parameters(), lr=0.1)
for epoch in range(5):
    for part in pairs.split(64):
        neg = torch.randint(0, len(vocab), (len(part), 5))
        loss = model(part[:, 0], part[:, 1], neg)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
