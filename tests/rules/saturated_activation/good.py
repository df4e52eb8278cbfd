"""Signs learned through a steep tanh: saturated, and it learns all the same."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(600, 6)
y = torch.sign(x[:, :1])
model = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
with torch.no_grad():
    model[0].weight.mul_(60)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    for rows in torch.randperm(len(x)).split(50):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
