import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

PAD = 0
LABELS = ["O", "NAME", "PLACE"]


def sentence(rng):
    words = [rng.randrange(1, 50) for _ in range(rng.choice([3, 5, 8, 25]))]
    return torch.tensor(words), torch.tensor([1 if word < 5 else 2 if word > 45 else 0 for word in words])


def collate(rows):
    return tuple(pad_sequence(field, batch_first=True, padding_value=PAD) for field in zip(*rows, strict=True))


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 16, padding_idx=PAD)
        self.rnn = nn.GRU(16, 16, batch_first=True, bidirectional=True)
        self.head = nn.Linear(32, len(LABELS))

    def forward(self, words):
        return self.head(self.rnn(self.embedding(words))[0])


torch.manual_seed(0)
rng = random.Random(0)
loader = DataLoader([sentence(rng) for _ in range(256)], batch_size=16, shuffle=True, collate_fn=collate)
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss(ignore_index=PAD)  # expect: LOS140
for epoch in range(2):
    for words, tags in loader:
        loss = criterion(model(words).flatten(0, 1), tags.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
