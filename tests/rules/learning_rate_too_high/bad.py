"""Adam with a rate that plain SGD could bear."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(800, 12)
y = (x[:, :4].sum(1) > 0).long() + (x[:, 4:].sum(1) > 0).long()
model = nn.Sequential(
    nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3)
)
optimizer = torch.optim.Adam(model.parameters(), lr=1.0)  # expect: TRN001
criterion = nn.CrossEntropyLoss()
for epoch in range(6):
    for rows in torch.randperm(len(x)).split(50):
        loss = criterion(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
