"""The rate was meant for another optimizer and another batch size."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(900, 8)
y = (2 * x[:, 0] - x[:, 1] * x[:, 2]).unsqueeze(1)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-7)  # expect: TRN002
criterion = nn.MSELoss()
for epoch in range(8):
    total = 0.0
    for rows in torch.randperm(len(x)).split(60):
        loss = criterion(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / 15:.4f}")
