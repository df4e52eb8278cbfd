"""A context for each step, with the update inside it: it is left before the next forward pass."""

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 12)
y = torch.sin(x[:, :3]).sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(12, 48), nn.SiLU(), nn.Linear(48, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(2):
    for rows in torch.randperm(len(x)).split(32):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.mse_loss(model(x[rows]).float(), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
