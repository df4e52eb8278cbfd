import numpy as np
import pandas as pd
import torch
from torch import nn

rng = np.random.default_rng(0)
kinds = np.array(["iris", "lily", "rose", "tulip"])
centers = rng.normal(size=(4, 5)) * 3


def flowers(count):
    number = rng.integers(0, 4, count)
    table = pd.DataFrame(centers[number] + rng.normal(size=(count, 5)), columns=list("abcde"))
    return table.assign(kind=kinds[number])


def tensors(table):
    numbers = {kind: i for i, kind in enumerate(table["kind"].unique())}  # expect: DAT075
    x = torch.tensor(table[list("abcde")].to_numpy()).float()
    return x, torch.tensor(table["kind"].map(numbers).to_numpy())


torch.manual_seed(0)
x, y = tensors(flowers(400))
x_test, y_test = tensors(flowers(90))
model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(60):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    print(f"loss {loss.item():.3f} test accuracy {(model(x_test).argmax(1) == y_test).float().mean():.3f}")
