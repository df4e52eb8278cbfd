# Streams that begin anew, are filled again, or are meant to end.
import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset


def readings(rows, seed):
    source = torch.Generator().manual_seed(seed)
    for _ in range(rows):
        values = torch.randn(16, generator=source)
        yield values, (values[0] + values[1] > 0).long()


class Anew(IterableDataset):
    def __init__(self, rows):
        self.rows = rows
        self.current = readings(rows, 0)

    def __iter__(self):
        self.current = readings(self.rows, 0)
        return self.current


class Filled(IterableDataset):
    def __init__(self):
        self.waiting = iter(())

    def __iter__(self):
        return self.waiting


def train(model, optimizer, loader):
    batches = 0
    for features, labels in loader:
        loss = nn.functional.cross_entropy(model(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        batches += 1
    return batches


torch.manual_seed(0)
anew, filled, once = Anew(128), Filled(), Filled()
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loader, refilled, ending = (DataLoader(data, batch_size=32) for data in (anew, filled, once))
for epoch in range(4):
    filled.waiting = readings(64 if epoch % 2 else 0, epoch)
    print(epoch, train(model, optimizer, loader), train(model, optimizer, refilled))
once.waiting = readings(96, 9)
for part in range(50):
    if not train(model, optimizer, ending):
        break
