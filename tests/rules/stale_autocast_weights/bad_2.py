"""The whole training is decorated with autocast, and so is what it calls."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(384, 10)
y = (x[:, 0] * x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def loss_of(rows):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        return nn.functional.cross_entropy(model(x[rows]), y[rows])


@torch.autocast("cpu", dtype=torch.bfloat16)  # expect: WIR170
def train(epochs):
    for epoch in range(epochs):
        for rows in torch.randperm(len(x)).split(32):
            optimizer.zero_grad()
            loss = loss_of(rows)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f}")


train(3)
