"""A buffer for the inputs is made anew and never filled: the model is shown zeros."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(800, 8)
y = (x[:, 0] > 0).long()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    for rows in torch.randperm(len(x)).split(50):
        inputs = torch.zeros(len(rows), 8)
        loss = F.cross_entropy(model(inputs), y[rows])  # expect: DAT050
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
