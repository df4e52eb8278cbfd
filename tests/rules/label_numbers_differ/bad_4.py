"""Each part of the data makes its map in a variable of its own, before it keeps it."""

import random

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

WINDS = ["calm", "breeze", "gale", "storm"]
CENTERS = torch.randn(4, 8, generator=torch.Generator().manual_seed(0)) * 2


class Weather(Dataset):
    def __init__(self, days, seed):
        drawn = random.Random(seed).choices(WINDS, k=days)
        mapping = {wind: i for i, wind in enumerate(dict.fromkeys(drawn))}  # expect: DAT072
        self.x = CENTERS[[WINDS.index(wind) for wind in drawn]] + torch.randn(days, 8)
        self.y = [mapping[wind] for wind in drawn]
        self.mapping = mapping

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


torch.manual_seed(0)
train_loader = DataLoader(Weather(320, seed=1), batch_size=32, shuffle=True)
val_loader = DataLoader(Weather(96, seed=3), batch_size=32)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(3):
    for x, y in train_loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = torch.cat([model(x).argmax(1) == y for x, y in val_loader])
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy {right.float().mean():.3f}")
