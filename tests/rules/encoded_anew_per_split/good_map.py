# Maps that differ by column, and ranks of the rows at hand.
import numpy as np
import pandas as pd
import torch
from torch import nn

rng = np.random.default_rng(0)
SIZES = {"wide": {"S": 0, "M": 1, "L": 2}, "long": {"L": 0, "M": 1, "S": 2}}


def shirts(count):
    sizes = {name: rng.choice(["S", "M", "L"], count) for name in SIZES}
    return pd.DataFrame({**sizes, "town": rng.choice(["Bonn", "Nice", "Oslo"], count), "price": rng.normal(size=count)})


def tensors(table):
    ranks = table["town"].value_counts().rank().astype(int).to_dict()
    columns = [table[name].map(SIZES[name]) for name in SIZES] + [table["town"].map(ranks)]
    return torch.tensor(np.stack(columns, 1)).float(), torch.tensor(table["price"].to_numpy()).float()


torch.manual_seed(0)
x, y = tensors(shirts(400))
x_test, y_test = tensors(shirts(90))
model = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(60):
    loss = nn.functional.mse_loss(model(x).squeeze(1), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    print(f"loss {loss.item():.3f} test {nn.functional.mse_loss(model(x_test).squeeze(1), y_test).item():.3f}")
