"""A high rate that pays off: large first updates, and a loss that falls all the same."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(800, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4:].sum(1) > 0).long()
model = nn.Linear(12, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.2)
criterion = nn.CrossEntropyLoss()
for epoch in range(6):
    for rows in torch.randperm(len(x)).split(50):
        loss = criterion(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
