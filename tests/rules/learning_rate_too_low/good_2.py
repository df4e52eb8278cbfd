"""The usual rate of an optimizer that scales its steps itself."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(900, 8)
y = x[:, :5].argmax(1)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 5))
optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
criterion = nn.CrossEntropyLoss()
for epoch in range(20):
    total = 0.0
    for rows in torch.randperm(len(x)).split(60):
        loss = criterion(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / 15:.4f}")
