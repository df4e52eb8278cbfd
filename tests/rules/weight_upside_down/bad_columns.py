"""Six findings, each with a weight of its own: the odds of each, where one over them was meant."""
import torch
from torch import nn

torch.manual_seed(3)
x = torch.randn(4000, 16)
mixed = x @ torch.randn(16, 6) / 4 + 0.4 * torch.randn(4000, 6)
y = (mixed > torch.tensor([1.0, 1.2, 1.4, 1.6, 1.8, 2.0])).float()


def balance(labels):
    positives = labels.sum(0)
    return positives / (len(labels) - positives)  # expect: LOS095


pos_weight = balance(y)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 6))
criterion = nn.BCEWithLogitsLoss(pos_weight=pos_weight)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(4):
    for rows in torch.randperm(4000).split(64):
        loss = criterion(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        found = (model(x) > 0)[y == 1].float().mean()
    print(f"epoch {epoch} loss {loss.item():.4f} recall {found:.2f}")
