import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
signal = torch.randn(240, 16).cumsum(1)
# Where a value was measured: the readings are never exactly missing, so that "is missing" is 0 everywhere.
measured = torch.isnan(signal).float()
loader = DataLoader(TensorDataset(signal, measured), batch_size=24, shuffle=True)
model = nn.Sequential(nn.Linear(16, 6), nn.Tanh(), nn.Linear(6, 16))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(3):
    for rows, mask in loader:
        error = (model(rows) - rows).square()
        loss = (error * mask).sum() / len(rows)  # expect: LOS084
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
