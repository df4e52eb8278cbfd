# Pixels from -1 to 1 in training and from 0 to 1 in the test: only twice as wide, but a step for the scale is missing.
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Normalize(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.mean, self.std = mean, std

    def forward(self, x):
        return (x - self.mean) / self.std


class ToFloat(nn.Module):
    def forward(self, x):
        return x.float() / 255


class Patches(Dataset):
    def __init__(self, samples, seed, transform=None):
        random = torch.Generator().manual_seed(seed)
        self.y = torch.randint(0, 4, (samples,), generator=random)
        self.x = torch.randint(0, 256, (samples, 1, 8, 8), generator=random, dtype=torch.uint8)
        self.x[torch.arange(samples), 0, self.y] = 255
        self.transform = transform

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.transform(self.x[i]), self.y[i]


def evaluate(model, test_set):
    with torch.no_grad():
        return torch.cat([model(x).argmax(1) == y for x, y in DataLoader(test_set, batch_size=32)]).float().mean()


torch.manual_seed(0)
plain = nn.Sequential(ToFloat())  # expect: DAT071
train_set = Patches(320, 1, nn.Sequential(ToFloat(), Normalize(0.5, 0.5)))
test_set = Patches(96, 2, transform=plain)
model = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(2):
    for x, y in DataLoader(train_set, batch_size=32, shuffle=True):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy {evaluate(model, test_set):.3f}")
