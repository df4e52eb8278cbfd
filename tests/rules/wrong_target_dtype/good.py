import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(8, 1)
optimizer = torch.optim.Adam(model.parameters())
x = torch.randn(32, 8)
clicked = torch.randint(0, 2, (32, 1))
criterion = nn.BCEWithLogitsLoss()
for step in range(3):
    optimizer.zero_grad()
    loss = criterion(model(x), clicked.float())
    loss.backward()
    optimizer.step()
