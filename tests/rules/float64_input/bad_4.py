import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Readings(Dataset):
    """Temperatures, centred by the mean of each sensor."""

    def __init__(self, values, labels, cast=False):
        self.values, self.labels, self.cast = values, labels, cast
        self.center = np.array([float(np.mean(column)) for column in values.T])

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        row = self.values[i] - self.center  # expect: ERR007
        if self.cast:
            row = row.astype(np.float32)
        return row, self.labels[i]


def accuracy(model, loader):
    right = [(model(row).argmax(1) == label).float().mean().item() for row, label in loader]
    return sum(right) / len(right)


torch.manual_seed(0)
rng = np.random.default_rng(0)
values = rng.normal(20, 3, (128, 6)).astype(np.float32)
labels = (values[:, 0] > values[:, 1]).astype(np.int64)
training = DataLoader(Readings(values[:96], labels[:96], cast=True), batch_size=16, shuffle=True)
testing = DataLoader(Readings(values[96:], labels[96:]), batch_size=16)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for _ in range(2):
    for row, label in training:
        loss = nn.functional.cross_entropy(model(row), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(accuracy(model, testing))
