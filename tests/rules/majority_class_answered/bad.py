"""Five per cent of the patients are ill: the model calls everybody healthy and is right in 95 % of the cases."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(6000, 10)
ill = (0.3 * x[:, 0] + 4 * torch.randn(6000) > 6.6).long()
model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(8):
    for rows in torch.randperm(len(x)).split(100):
        loss = F.cross_entropy(model(x[rows]), ill[rows])  # expect: DAT053
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
