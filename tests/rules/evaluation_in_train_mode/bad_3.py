"""The function that evaluates was copied from the one that trains, with its first line."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train_epoch(model, loader, optimizer):
    model.train()
    for x, y in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()


def evaluate(model, loader):
    model.train()  # expect: WIR034
    correct = 0
    with torch.no_grad():
        for x, y in loader:
            correct += (model(x).argmax(1) == y).sum().item()
    return correct


torch.manual_seed(0)
x = torch.randn(240, 6)
y = (x[:, 0] > 0).long()
train_loader = DataLoader(TensorDataset(x[:200], y[:200]), batch_size=20, shuffle=True)
test_loader = DataLoader(TensorDataset(x[200:], y[200:]), batch_size=8)
model = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    train_epoch(model, train_loader, optimizer)
    print(f"epoch {epoch} correct {evaluate(model, test_loader)} of 40")
