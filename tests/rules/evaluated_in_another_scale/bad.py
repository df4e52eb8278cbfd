import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Spectra(Dataset):
    def __init__(self, samples, transform=None):
        self.y = torch.randint(0, 3, (samples,))
        peak = (torch.linspace(0, 1, 30) - 0.25 * (1 + self.y[:, None])).square()
        self.x = 120 + 40 * torch.exp(-peak / 0.01) + 8 * torch.randn(samples, 30)
        self.transform = transform

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.transform(self.x[i]) if self.transform else self.x[i], self.y[i]


def scaled(x):
    return (x - 130) / 15


torch.manual_seed(0)
train_loader = DataLoader(Spectra(320, transform=scaled), batch_size=32, shuffle=True)
val_loader = DataLoader(Spectra(96), batch_size=32)  # expect: DAT071
model = nn.Sequential(nn.Linear(30, 32), nn.ReLU(), nn.Linear(32, 3))
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
