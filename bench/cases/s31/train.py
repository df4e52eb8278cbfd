import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class MotionClips(Dataset):
    """pairs of 8-bit camera frames; label: did something move to the left or to the right?"""

    def __init__(self, n, seed, size=16):
        rng = np.random.default_rng(seed)
        self.labels = rng.integers(0, 2, n)
        yy, xx = np.mgrid[:size, :size]
        cy, cx = rng.integers(4, size - 4, (2, n, 1, 1))
        shift = np.where(self.labels == 1, 1, -1)[:, None, None]
        background = rng.integers(60, 180, (n, size, size))
        first = background + 40 * np.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / 6)
        second = background + 40 * np.exp(-((yy - cy) ** 2 + (xx - cx - shift) ** 2) / 6)
        self.first = (first + rng.normal(0, 8, first.shape)).clip(0, 255).astype(np.uint8)
        self.second = (second + rng.normal(0, 8, second.shape)).clip(0, 255).astype(np.uint8)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        diff = self.second[i] - self.first[i]
        x = torch.from_numpy(diff).float().unsqueeze(0) / 255.0
        return x, int(self.labels[i])


torch.manual_seed(0)
train_loader = DataLoader(MotionClips(1500, 1), batch_size=50, shuffle=True)
test_loader = DataLoader(MotionClips(400, 2), batch_size=100)
model = nn.Sequential(
    nn.Conv2d(1, 8, 5, padding=2), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
    nn.Flatten(), nn.Linear(64, 2),
)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(6):
    model.train()
    running = 0.0
    for x, y in train_loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    model.eval()
    with torch.no_grad():
        hits = sum((model(x).argmax(1) == y).sum().item() for x, y in test_loader)
    print(f"epoch {epoch} loss {running / len(train_loader):.4f} test acc {hits / 400:.3f}")
