import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


def jitter(x):
    return x + 0.5 * torch.randn_like(x)


def plain(x):
    return x


class Textures(Dataset):
    def __init__(self, samples, transform):
        self.y = torch.randint(0, 3, (samples,))
        self.x = torch.randn(3, 20)[self.y] + torch.randn(samples, 20)
        self.transform = transform

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.transform(self.x[i]), self.y[i]


torch.manual_seed(0)
train_set, val_set = random_split(Textures(400, transform=jitter), [320, 80])
val_set.dataset = copy.copy(val_set.dataset)
val_set.dataset.transform = plain
train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
val_loader = DataLoader(val_set, batch_size=40)
model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(2):
    for x, y in train_loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = torch.cat([model(x).argmax(1) == y for x, y in val_loader])
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy {right.float().mean():.3f}")
