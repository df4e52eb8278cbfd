"""Soft labels between 0 and 1."""
import torch
from torch import nn

torch.manual_seed(0)
image = torch.rand(160, 1, 12, 12)
mask = (image > 0.6).to(torch.uint8) * 255
model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 1, 1))
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for rows in torch.randperm(len(image)).split(16):
        target = 0.05 + 0.9 * mask[rows].float() / 255
        loss = criterion(model(image[rows]), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.2f}")
