import numpy as np
import pandas as pd
import torch
from torch import nn

rng = np.random.default_rng(0)
cities = np.array(["Arles", "Brest", "Caen", "Dijon", "Evry", "Foix"])
sold = pd.DataFrame({"day": np.arange(600), "city": rng.choice(cities, 600), "price": rng.normal(size=600)})
sold["price"] += sold["city"].map(dict(zip(cities, rng.permutation(6), strict=True)))
sold = sold[(sold["day"] < 450) | (sold["city"] != "Brest")]


def tensors(table):
    codes = table["city"].cat.codes.to_numpy()
    return torch.tensor(codes).long(), torch.tensor(table["price"].to_numpy()).float()


torch.manual_seed(0)
sold["city"] = sold["city"].astype("category")
past, recent = sold[sold["day"] < 450], sold[sold["day"] >= 450]
x, y = tensors(past)
x_recent, y_recent = tensors(recent)
model = nn.Sequential(nn.Embedding(6, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
for step in range(60):
    loss = nn.functional.mse_loss(model(x).squeeze(1), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    print(f"past {loss.item():.2f} recent {nn.functional.mse_loss(model(x_recent).squeeze(1), y_recent).item():.2f}")
