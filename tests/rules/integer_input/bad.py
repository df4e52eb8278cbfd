import torch
from torch import nn

torch.manual_seed(0)
table = torch.randint(0, 100, (50, 4))
target = torch.randn(50, 1)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
for epoch in range(2):
    optimizer.zero_grad()
    pred = model(table)  # expect: ERR009
    nn.functional.mse_loss(pred, target).backward()
    optimizer.step()
