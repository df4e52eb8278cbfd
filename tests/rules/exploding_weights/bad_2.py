"""House prices in cents from areas in square centimetres: the very first update throws the weights far away."""
import torch
from torch import nn

torch.manual_seed(0)
area = torch.rand(256, 1) * 2e6
rooms = torch.randint(1, 7, (256, 1)).float()
price = area * 25 + rooms * 1e6
features = torch.cat([area, rooms], 1)
model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)  # expect: NUM025

for epoch in range(20):
    for start in range(0, 256, 32):
        predicted = model(features[start : start + 32])
        loss = ((predicted - price[start : start + 32]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
