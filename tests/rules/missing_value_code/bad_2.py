"""Stations send their weather by the hour; rain is to be told from wind, pressure and dew point."""
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def received(n=900):
    draw = np.random.default_rng(0)
    front = draw.normal(size=n)
    table = pd.DataFrame(
        {
            "wind": 6 + 2 * front + draw.normal(0, 0.3, n),
            "pressure": 1010 - 5 * front + draw.normal(0, 1, n),
            "dew_point": 9 + draw.normal(0, 2, n),
        }
    )
    table["rain"] = np.exp(0.4 * front) + draw.normal(0, 0.05, n)
    for name in ("wind", "pressure"):
        table.loc[draw.random(n) < 0.05, name] = -999.0
    table.loc[draw.random(n) < 0.05, "dew_point"] = np.nan
    return table


def prepared():
    table = received().dropna()  # expect: DAT061
    scaled = (table - table.mean()) / table.std()
    return torch.tensor(scaled.to_numpy("float32"))


torch.manual_seed(0)
rows = prepared()
loader = DataLoader(TensorDataset(rows[:, :3], rows[:, 3:]), batch_size=50, shuffle=True)
model = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
