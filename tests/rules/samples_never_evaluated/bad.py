"""A test loader with the settings of the training loader."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
rows = torch.randn(430, 6)
values = rows @ torch.randn(6) + 0.1 * torch.randn(430)
settings = {"batch_size": 32, "drop_last": True}
train = DataLoader(TensorDataset(rows[:320], values[:320]), shuffle=True, **settings)
test = DataLoader(TensorDataset(rows[320:], values[320:]), shuffle=False, **settings)  # expect: DAT165
model = nn.Linear(6, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(4):
    for inputs, targets in train:
        loss = nn.functional.mse_loss(model(inputs).squeeze(1), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        errors = [(model(inputs).squeeze(1) - targets).square().mean().item() for inputs, targets in test]
    print(epoch, sum(errors) / len(errors))
