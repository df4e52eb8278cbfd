import numpy as np
import pandas as pd
import torch
from sklearn.preprocessing import StandardScaler
from torch import nn

rng = np.random.default_rng(0)
flats = pd.DataFrame({"area": rng.gamma(6, 12, 400), "floor": rng.integers(0, 9, 400), "age": rng.integers(0, 90, 400)})
flats["rent"] = 9 * flats["area"] - 2 * flats["age"] + rng.normal(0, 60, 400)
flats["lift"] = (flats["floor"] > 3).astype(int)
columns = [name for name in flats.columns if name != "rent"]
x = torch.tensor(StandardScaler().fit_transform(flats[columns]), dtype=torch.float32)
y = torch.tensor(flats["rent"].to_numpy() / 100, dtype=torch.float32)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(x.shape[1], 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    for rows in torch.randperm(320).split(40):
        loss = nn.functional.mse_loss(model(x[rows]).squeeze(1), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
