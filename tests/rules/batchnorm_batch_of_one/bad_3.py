import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset


def folds(data, size, count=2):
    for k in range(count):
        train = [i for i in range(len(data)) if i % count != k]
        yield (
            DataLoader(Subset(data, train), size, shuffle=True),  # expect: ERR022
            DataLoader(Subset(data, [k]), size),
        )


def train_one(model, loader, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


torch.manual_seed(0)
data = TensorDataset(torch.randn(34, 4), torch.randint(0, 2, (34,)))
for train_loader, _ in folds(data, 8):
    model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
    train_one(model, train_loader, torch.optim.SGD(model.parameters(), lr=0.1))
