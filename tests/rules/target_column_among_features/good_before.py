# The value of today among the inputs is not that of tomorrow, which is asked for.
import numpy as np
import pandas as pd
import torch
from torch import nn

rng = np.random.default_rng(0)
days = pd.DataFrame({"load": np.sin(np.arange(500) / 9), "wind": rng.normal(size=500), "sun": rng.normal(size=500)})
x = torch.tensor(days.values[:-1], dtype=torch.float32)
y = torch.tensor(days["load"].values[1:], dtype=torch.float32)
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    for rows in torch.randperm(480).split(40):
        loss = nn.functional.mse_loss(model(x[rows]).squeeze(1), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
