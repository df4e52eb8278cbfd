"""The table of inputs was sorted after the labels had been read: row i and label i belong to different patients."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
features = torch.randn(4000, 12)
labels = (features[:, 0] + features[:, 1] > 0).long()
features = features[torch.argsort(features[:, 5])]
model = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(10):
    for rows in torch.randperm(len(features)).split(100):
        loss = F.cross_entropy(model(features[rows]), labels[rows])  # expect: LOS032
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
