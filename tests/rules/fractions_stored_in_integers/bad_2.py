"""Pictures that are scaled one by one into a stack of the pictures' own type, inside a function that is over."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    def __init__(self, count=600):
        draw = np.random.default_rng(0)
        self.labels = draw.integers(0, 3, count)
        self.raw = draw.integers(0, 120, (count, 8, 8)) + 60 * self.labels[:, None, None]
        self.images = self.scaled(self.raw)

    def scaled(self, raw):
        stack = np.zeros(raw.shape, dtype=np.int64)  # expect: DAT170
        for number, picture in enumerate(raw):
            stack[number] = picture / 255.0
        return stack

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, number):
        return torch.from_numpy(self.images[number]).float(), int(self.labels[number])


torch.manual_seed(0)
model = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    for image, label in DataLoader(Pictures(), batch_size=32, shuffle=True):
        loss = nn.functional.cross_entropy(model(image), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
