import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(960, 10)
loader = DataLoader(TensorDataset(x, x[:, :2].prod(1)), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(6):
    for i, (features, target) in enumerate(loader):
        for group in optimizer.param_groups:
            group["lr"] = 0.005 * (1 + math.cos(math.pi * i / len(loader)))
        loss = F.mse_loss(model(features).squeeze(1), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
