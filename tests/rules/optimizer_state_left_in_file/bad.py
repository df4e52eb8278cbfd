"""A training cut in two: the second half loads the weights and forgets the optimizer's moments."""
import os
import tempfile

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(600, 8)
y = (x[:, 0] * x[:, 1] > 0).long()


def build():
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
    return model, torch.optim.Adam(model.parameters(), lr=3e-3)


def train(model, optimizer, epochs):
    for epoch in range(epochs):
        for rows in torch.randperm(len(x)).split(50):
            loss = F.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f}")


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "half.pt")
    model, optimizer = build()
    train(model, optimizer, 4)
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, path)
    model, optimizer = build()
    checkpoint = torch.load(path, weights_only=True)
model.load_state_dict(checkpoint["model"])  # expect: WIR051
train(model, optimizer, 4)
