"""Padding by hand, told by a mask that only the attention looks at."""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader

PAD = 60


def sentence(rng):
    words = [rng.randrange(60) for _ in range(rng.choice([3, 6, 20]))]
    return words, [1 if word < 8 else 0 for word in words]


def collate(rows):
    longest = max(len(words) for words, _ in rows)
    ids, labels, padded = [], [], []
    for words, tags in rows:
        missing = longest - len(words)
        ids.append(words + [PAD] * missing)
        labels.append(tags + [0] * missing)  # expect: LOS050
        padded.append([False] * len(words) + [True] * missing)
    return torch.tensor(ids), torch.tensor(labels), torch.tensor(padded)


class Tagger(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.tokens = nn.Embedding(PAD + 1, dim)
        self.attention = nn.TransformerEncoderLayer(dim, 2, 32, dropout=0.0, batch_first=True)
        self.head = nn.Linear(dim, 2)

    def forward(self, ids, padded):
        return self.head(self.attention(self.tokens(ids), src_key_padding_mask=padded))


torch.manual_seed(0)
rng = random.Random(0)
loader = DataLoader([sentence(rng) for _ in range(320)], batch_size=16, shuffle=True, collate_fn=collate)
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
criterion = nn.CrossEntropyLoss()
for ids, labels, padded in loader:
    loss = criterion(model(ids, padded).transpose(1, 2), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.2f}")
