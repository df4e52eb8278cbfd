import torch
from torch import nn


def minibatches(x, y, size):
    order = torch.randperm(len(x))
    for start in range(0, len(x), size):
        rows = order[start : start + size]
        yield x[rows], y[rows]


def train_epoch(model, optimizer, stream):
    total = 0.0
    for step, (features, labels) in enumerate(stream):
        loss = nn.functional.cross_entropy(model(features), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    return total


def main(epochs=5):
    torch.manual_seed(0)
    x = torch.randn(256, 16)
    y = (x[:, 0] + x[:, 1] > 0).long()
    model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    batches = minibatches(x, y, 32)  # expect: DAT175
    for epoch in range(1, epochs + 1):
        print(f"epoch {epoch} loss {train_epoch(model, optimizer, batches):.3f}")


main()
