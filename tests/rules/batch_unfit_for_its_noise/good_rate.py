"""Batches of 4 with a rate to match: at the end every step is noise, but too small to matter."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
blood = torch.randn(1600, 20)
with torch.no_grad():
    risk = 2 * nn.Sequential(nn.Linear(20, 16), nn.Tanh(), nn.Linear(16, 1))(blood)
risk = risk + 0.5 * risk.std() * torch.randn(1600, 1)
loader = DataLoader(TensorDataset(blood, risk), batch_size=4, shuffle=True)

model = nn.Sequential(nn.Linear(20, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
for epoch in range(5):
    total = 0.0
    for inputs, targets in loader:
        loss = nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.4f}")
