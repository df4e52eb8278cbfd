"""As rare, but the illness shows: some samples of most batches are named ill."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(6000, 10)
ill = (x[:, 0] > 1.3).long()
model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(8):
    for rows in torch.randperm(len(x)).split(100):
        loss = F.cross_entropy(model(x[rows]), ill[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
