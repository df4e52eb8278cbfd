"""Signals with random noise and shifts: the data set's own generator is copied into both workers."""
import numpy as np
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Signals(Dataset):
    def __init__(self, count):
        self.rng = np.random.default_rng(7)  # expect: DAT054
        phase = np.linspace(0, 20, 32)
        self.labels = np.arange(count) % 2
        self.waves = np.stack([np.sin(phase * (1 + 0.5 * label)) for label in self.labels])

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        wave = np.roll(self.waves[index], self.rng.integers(-4, 5))
        wave = wave + 0.3 * self.rng.standard_normal(32)
        return torch.tensor(wave, dtype=torch.float32), int(self.labels[index])


torch.manual_seed(0)
loader = DataLoader(Signals(320), batch_size=32, shuffle=True, num_workers=2)
model = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for waves, labels in loader:
        loss = F.cross_entropy(model(waves), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
