"""Gradients on test inputs (saliency) without a step."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def data(count):
    x = torch.randn(count, 8)
    return TensorDataset(x, (x[:, 0] * x[:, 1] > 0).long())


torch.manual_seed(0)
train_loader = DataLoader(data(300), batch_size=30, shuffle=True)
test_loader = DataLoader(data(120), batch_size=30)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(4):
    for x, y in train_loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    saliency = torch.zeros(8)
    for x, y in test_loader:
        x.requires_grad_()
        criterion(model(x), y).backward()
        saliency += x.grad.abs().sum(0)
    print(f"epoch {epoch} strongest input {saliency.argmax().item()}")
