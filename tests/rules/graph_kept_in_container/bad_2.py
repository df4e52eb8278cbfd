"""Training losses appended as tensors over the whole run."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
x, y = torch.randn(320, 20), torch.randn(320, 1)
stats = {"epoch": [], "loss": []}
for epoch in range(12):
    for rows in torch.randperm(320).split(32):
        loss = F.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        stats["loss"].append(loss)  # expect: MEM001
    stats["epoch"].append(epoch)
print(f"mean {sum(stats['loss']).item() / len(stats['loss']):.3f}")
