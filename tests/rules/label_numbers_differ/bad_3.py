"""A class that takes the list of species and is not given it for the held-out part, where one species is missing."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SPECIES = ("ash", "beech", "cedar", "elm", "fir")
CENTERS = dict(zip(SPECIES, 2 * torch.randn(5, 8, generator=torch.Generator().manual_seed(4)), strict=True))


class Bark(Dataset):
    def __init__(self, trees, species=None):
        names = species or sorted(set(trees))
        self.number = {name: i for i, name in enumerate(names)}
        self.trees = trees

    def __len__(self):
        return len(self.trees)

    def __getitem__(self, i):
        name = self.trees[i]
        return CENTERS[name] + torch.randn(8), self.number[name]


class Forest:
    def __init__(self):
        self.train_set = Bark(["ash", "beech", "cedar", "elm", "fir"] * 64)
        self.held_out = Bark(["ash", "cedar", "elm", "fir"] * 16)  # expect: DAT072

    def train_loader(self):
        return DataLoader(self.train_set, batch_size=32, shuffle=True)

    def test_loader(self):
        return DataLoader(dataset=self.held_out, batch_size=32)


torch.manual_seed(0)
forest = Forest()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 5))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
test_loader = forest.test_loader()
for epoch in range(3):
    for x, y in forest.train_loader():
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = torch.cat([model(x).argmax(1) == y for x, y in test_loader])
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy {right.float().mean():.3f}")
