"""Fine-tuning: the statistics of the first training are kept on purpose, by a momentum of 0."""

import torch
from torch import nn


def block(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs, outputs), nn.BatchNorm1d(outputs), nn.ReLU())


def train(model, x, y, epochs):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(epochs):
        model.train()
        for rows in torch.randperm(len(x)).split(32):
            loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            right = (model(x).argmax(1) == y).float().mean()
        print(f"epoch {epoch} loss {loss.item():.3f} accuracy {right:.3f}")


torch.manual_seed(0)
x = torch.randn(640, 12)
y = (x @ torch.randn(12, 3)).argmax(1)
model = nn.Sequential(block(12, 32), block(32, 32), nn.Linear(32, 3))
train(model, x, y, epochs=3)
for layer in model.modules():
    if isinstance(layer, nn.BatchNorm1d):
        layer.momentum = 0.0
train(model, x + 0.1 * torch.randn_like(x), y, epochs=2)
