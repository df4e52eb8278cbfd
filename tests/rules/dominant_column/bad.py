"""House prices: the year of building and the plot in square feet go into the first layer as they are."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
rooms = torch.randn(1200, 6)
plot = 20_000 + 5_000 * torch.randn(1200, 1)
houses = torch.cat([rooms, plot], 1)  # expect: DAT052
dear = (rooms[:, 0] - rooms[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(7, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(12):
    for rows in torch.randperm(len(houses)).split(60):
        loss = F.cross_entropy(model(houses[rows]), dear[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
