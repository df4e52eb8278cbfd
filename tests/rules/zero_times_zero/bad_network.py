"""All weights of a network are made 0 after it was built."""

import torch
from torch import nn


def reset(layer):
    if isinstance(layer, nn.Linear):
        nn.init.constant_(layer.weight, 0.0)  # expect: WIR211
        nn.init.zeros_(layer.bias)


torch.manual_seed(0)
x = torch.randn(256, 6)
y = (x[:, 0] + x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
model.apply(reset)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    for rows in torch.randperm(256).split(32):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
