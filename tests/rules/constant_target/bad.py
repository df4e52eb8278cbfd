import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(0)
table = rng.normal(size=(500, 5))
visits = np.where(table[:, 0] > 9, 1.0, 0.0)  # a threshold in the wrong unit: nobody is above it

torch.manual_seed(0)
x = torch.tensor(table, dtype=torch.float32)
y = torch.tensor(visits, dtype=torch.float32)
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    for rows in torch.randperm(500).split(50):
        loss = nn.functional.mse_loss(model(x[rows])[:, 0], y[rows])  # expect: LOS017
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.5f}")
