"""Patterns in grey, scaled by the data set and again in the loop."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Patterns(Dataset):
    def __init__(self, count=480):
        draw = np.random.default_rng(0)
        self.labels = draw.integers(0, 3, count)
        noise = draw.integers(0, 90, (count, 1, 12, 12))
        stripes = np.arange(12) % (self.labels[:, None] + 2) == 0
        self.images = (noise + 150 * stripes[:, None, None, :]).astype(np.uint8)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, number):
        return torch.from_numpy(self.images[number]).float().div(255), int(self.labels[number])


torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(800, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for epoch in range(4):
    for images, labels in DataLoader(Patterns(), batch_size=32, shuffle=True):
        images = images / 255.0  # expect: DAT171
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
