# Classes of batches, gone over without a loader: made in every epoch, or begun anew.
import torch
from torch import nn


class Batches:
    def __init__(self, x, y, size):
        self.parts = ((x[rows], y[rows]) for rows in torch.randperm(len(x)).split(size))

    def __iter__(self):
        return self.parts


class Shuffled:
    def __init__(self, x, y, size):
        self.x, self.y, self.size = x, y, size
        self.parts = iter(())

    def __iter__(self):
        self.parts = ((self.x[rows], self.y[rows]) for rows in torch.randperm(len(self.x)).split(self.size))
        yield from self.parts


def train_epoch(model, optimizer, batches):
    for features, labels in batches:
        loss = nn.functional.cross_entropy(model(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


torch.manual_seed(0)
x = torch.randn(256, 16)
y = (x[:, 0] + x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
shuffled = Shuffled(x, y, 32)
for epoch in range(4):
    batches = Batches(x, y, 32)
    print(f"epoch {epoch} loss {train_epoch(model, optimizer, batches):.3f}")
    print(f"epoch {epoch} loss {train_epoch(model, optimizer, shuffled):.3f}")
