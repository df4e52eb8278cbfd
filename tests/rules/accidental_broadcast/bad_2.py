"""Regression with MSELoss; the target has no second dimension."""
import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore")
torch.manual_seed(0)
x = torch.randn(600, 5)
y = x @ torch.tensor([1.0, -2.0, 0.5, 0.0, 3.0])
model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
criterion = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(4):
    for rows in torch.randperm(len(x)).split(60):
        output = model(x[rows])
        loss = criterion(output, y[rows])  # expect: LOS009
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
