"""A plain loop with a validation, a score that is told to torchmedic, and early stopping."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import torchmedic

torch.manual_seed(0)
x = torch.randn(192, 8)
y = (x.sum(1) > 0).long()
train = DataLoader(TensorDataset(x[:96], y[:96]), batch_size=32, shuffle=True)
val = DataLoader(TensorDataset(x[96:], y[96:]), batch_size=48)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()
stopping = torchmedic.EarlyStopping(patience=3, monitor="watched_loss")


def evaluate(loader):
    total = hits = 0
    with torch.no_grad():
        for xb, yb in loader:
            out = model(xb)
            total += criterion(out, yb).item() * len(xb)
            hits += (out.argmax(1) == yb).sum().item()
    return total / len(loader.dataset), hits / len(loader.dataset)


for epoch in range(40):
    for xb, yb in train:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    loss, accuracy = evaluate(val)
    torchmedic.log("val_acc", accuracy)
    if stopping.step(loss if epoch < 6 else 1.0 + epoch, model):
        break
stopping.restore(model)
print(epoch + 1, stopping.best_epoch)
