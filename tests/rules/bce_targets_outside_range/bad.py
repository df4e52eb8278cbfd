"""Segment stripes; the mask has the values of an image file."""
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
        logits = model(image[rows])
        target = mask[rows].float()
        loss = criterion(logits, target)  # expect: LOS011
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.2f}")
