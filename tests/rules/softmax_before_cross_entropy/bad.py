"""Classify points in three rings; the model ends in a softmax."""
import torch
from torch import nn


class Rings(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Linear(2, 32),
            nn.ReLU(),
            nn.Linear(32, 3),
            nn.Softmax(dim=1),  # expect: LOS001
        )

    def forward(self, x):
        return self.net(x)


torch.manual_seed(0)
x = torch.randn(600, 2)
y = (x.norm(dim=1) * 1.5).long().clamp(max=2)
model = Rings()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
criterion = nn.CrossEntropyLoss()
for epoch in range(4):
    for rows in torch.randperm(len(x)).split(60):
        loss = criterion(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
