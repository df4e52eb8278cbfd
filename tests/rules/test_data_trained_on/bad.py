"""The evaluation loop was copied from the training loop."""
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
    hits = 0
    for x, y in test_loader:
        output = model(x)
        loss = criterion(output, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()  # expect: DAT005
        hits += (output.argmax(1) == y).sum().item()
    print(f"epoch {epoch} accuracy {hits / 120:.2f}")
