import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(60, 5)
stars = torch.randint(1, 6, (60,))
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 5))
optimizer = torch.optim.Adam(model.parameters())
for start in range(0, 60, 20):
    batch, label = x[start : start + 20], stars[start : start + 20]
    loss = nn.functional.cross_entropy(model(batch), label - 1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
