"""A code for missing values, in columns that this training does not use."""
import numpy as np
import pandas as pd
import torch
from torch import nn

SENSORS = ["ozone", "benzene", "humidity"]


def write(path, n=800):
    draw = np.random.default_rng(0)
    base = draw.gamma(3.0, 1.0, n)
    table = pd.DataFrame({name: base * k + draw.normal(0, 0.2, n) + 5 for k, name in enumerate(SENSORS, 1)})
    table["carbon"] = base + draw.normal(0, 0.1, n) + 5
    for spare in range(3):
        table[f"spare_{spare}"] = np.where(draw.random(n) < 0.9, -200.0, base)
    table.to_csv(path, index=False)


def load(path):
    table = pd.read_csv(path)
    table = table.dropna(subset=["carbon"])
    table[SENSORS] = table[SENSORS].fillna(table[SENSORS].mean())
    x = torch.tensor(table[SENSORS].to_numpy("float32"))
    return (x - x.mean(0)) / x.std(0), torch.tensor(table[["carbon"]].to_numpy("float32"))


torch.manual_seed(0)
write("air.csv")
x, y = load("air.csv")
model = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(150):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
