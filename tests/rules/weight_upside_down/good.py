"""The weight of the rare positives is one over their share."""
import torch
from torch import nn

torch.manual_seed(0)
y = (torch.rand(3000, 1) < 0.08).float()
x = torch.randn(3000, 8)
x[:, :2] += 1.1 * y
n_pos, n_neg = y.sum(), (1 - y).sum()
pos_weight = n_neg / n_pos
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
criterion = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(6):
    for rows in torch.randperm(3000).split(100):
        loss = criterion(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        found = (model(x) > 0)[y == 1].float().mean()
    print(f"epoch {epoch} loss {loss.item():.4f} recall {found:.2f}")
