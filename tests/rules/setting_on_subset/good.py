import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, Subset, random_split


class Leaves(Dataset):
    def __init__(self, transform=None):
        generator = torch.Generator().manual_seed(1)
        self.kind = torch.randint(0, 2, (240,), generator=generator)
        self.pixels = torch.randn(240, 8, 8, generator=generator) + self.kind[:, None, None]
        self.transform = transform

    def __len__(self):
        return len(self.kind)

    def __getitem__(self, index):
        leaf = self.pixels[index]
        return self.transform(leaf) if self.transform is not None else leaf, self.kind[index]


class Part(Subset):
    """One part of a split, with a transform of its own."""

    def __getitem__(self, index):
        leaf, kind = super().__getitem__(index)
        return self.transform(leaf), kind

    def __getitems__(self, indices):
        return [self[index] for index in indices]


def noisy(leaf):
    return leaf.roll(int(torch.randint(8, (1,))), 0) + torch.randn_like(leaf)


def as_is(leaf):
    return leaf


torch.manual_seed(0)
train_part, rest = random_split(Leaves(noisy), [180, 60])
valid_part = Part(Leaves(), rest.indices)
valid_part.transform = as_is
train_loader = DataLoader(train_part, batch_size=20, shuffle=True)
valid_loader = DataLoader(valid_part, batch_size=30)
model = nn.Sequential(nn.Flatten(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for leaf, kind in train_loader:
        loss = nn.functional.cross_entropy(model(leaf), kind)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = sum(int((model(leaf).argmax(1) == kind).sum()) for leaf, kind in valid_loader)
    print(f"epoch {epoch} loss {loss.item():.3f} right {right / 60:.2f}")
