"""Predict house prices with a loss made for classes."""
import torch
from torch import nn

torch.manual_seed(0)
rooms = torch.randint(1, 8, (400, 1)).float()
area = 20 * rooms + 10 * torch.rand(400, 1)
features = torch.cat([rooms, area / 50], dim=1)
price = 30 * rooms + area
model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    for rows in torch.randperm(len(features)).split(40):
        predicted = model(features[rows])
        loss = criterion(predicted, price[rows])  # expect: LOS008
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
