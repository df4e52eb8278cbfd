"""A margin loss that truly reaches 0 on separable data."""
import torch
from torch import nn

torch.manual_seed(0)
side = torch.randint(0, 2, (400,)).float() * 2 - 1
x = 3 * side.unsqueeze(1) + 0.3 * torch.randn(400, 2)
model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(6):
    for rows in torch.randperm(len(x)).split(40):
        margin = side[rows] * model(x[rows]).squeeze(1)
        loss = (1 - margin).clamp(min=0).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
