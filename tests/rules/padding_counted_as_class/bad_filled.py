import random

import torch
from torch import nn
from torch.utils.data import DataLoader

WORDS, LENGTH, PAD, BEGIN, END = 22, 24, 0, 1, 2


def pair(rng):
    source = [rng.randint(3, WORDS - 1) for _ in range(8)]
    wanted = [BEGIN, *sorted(word for word in source if word > 13), END]
    return torch.tensor(source), torch.tensor(wanted + [PAD] * (LENGTH - len(wanted)))


class Sorter(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.encoder, self.decoder = nn.GRU(width, width, batch_first=True), nn.GRU(width, width, batch_first=True)
        self.scores = nn.Linear(width, WORDS)
        self.criterion = nn.CrossEntropyLoss()  # expect: LOS050

    def forward(self, source, wanted):
        _, state = self.encoder(self.words(source))
        scores = self.scores(self.decoder(self.words(wanted[:, :-1]), state)[0])
        return self.criterion(scores.transpose(1, 2), wanted[:, 1:])


torch.manual_seed(0)
rng = random.Random(0)
model = Sorter()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for source, wanted in DataLoader([pair(rng) for _ in range(640)], batch_size=16):
    loss = model(source, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
