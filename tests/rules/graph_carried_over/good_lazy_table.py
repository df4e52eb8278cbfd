"""A table of models by name makes them as they are asked for: nobody but the script may ask it."""
from collections import OrderedDict

import torch
from torch import nn


class ModelTable(OrderedDict):
    """Builds a model when its name is looked up; most of them need packages that are not there."""

    def __init__(self, makers):
        self._makers = makers

    def __len__(self):
        return 1000

    def __iter__(self):
        return iter(self._makers)

    def keys(self):
        return list(self._makers)

    def __getitem__(self, name):
        made = self._makers[name]()
        print(f"built {name}")
        return made

    def get(self, name, default):
        return self[name] if name in self._makers else default

    def items(self):
        return [(name, self[name]) for name in self._makers]

    def values(self):
        return [self[name] for name in self._makers]


def missing():
    raise ImportError("this model needs a package that is not installed")


TABLE = ModelTable({"linear": lambda: nn.Linear(6, 1), "wide": missing, "deep": missing})

torch.manual_seed(0)
x = torch.randn(512, 6)
y = x[:, :3].sum(1, keepdim=True)
model = TABLE["linear"]
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
losses = []
for epoch in range(10):
    for rows in torch.randperm(len(x)).split(64):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f"epoch {epoch} loss {sum(losses[-8:]) / 8:.4f}")
