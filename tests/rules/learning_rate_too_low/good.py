"""Warm-up from a tiny rate: the first updates are small, later ones are not."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(900, 8)
y = (2 * x[:, 0] - x[:, 1] * x[:, 2]).unsqueeze(1)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, 1e-6 * 10 ** (step / 10)))
criterion = nn.MSELoss()
for epoch in range(8):
    total = 0.0
    for rows in torch.randperm(len(x)).split(60):
        loss = criterion(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / 15:.4f}")
