"""The evaluation in the middle of the epoch updates the model, too."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def readings(count):
    x = torch.randn(count, 6)
    return TensorDataset(x, (x[:, :2].sum(1) > 0).long())


def run(model, loader, optimizer):
    hits = 0
    for x, y in loader:
        answers = model(x)
        loss = nn.functional.cross_entropy(answers, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # expect: DAT005
        hits += (answers.argmax(1) == y).sum().item()
    return hits / len(loader.dataset)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
train_loader = DataLoader(readings(360), batch_size=20, shuffle=True)
val_loader = DataLoader(readings(160), batch_size=20)
for number, (x, y) in enumerate(train_loader):
    if number % 6 == 0:
        print(f"{number}: validation {run(model, val_loader, optimizer):.2f}")
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
