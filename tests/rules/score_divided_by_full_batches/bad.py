import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def accuracy(model, loader, batch_size):
    right = 0
    with torch.no_grad():
        for x, y in loader:
            right += (model(x).argmax(1) == y).sum().item()
    return right / (len(loader) * batch_size)  # expect: LOS070


torch.manual_seed(0)
batch_size = 64
y = torch.arange(500) % 3
x = torch.eye(3)[y] * 3 + torch.randn(500, 3)
train_loader = DataLoader(TensorDataset(x[:320], y[:320]), batch_size, shuffle=True)
val_loader = DataLoader(TensorDataset(x[320:420], y[320:420]), batch_size)
model = nn.Linear(3, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for epoch in range(4):
    for batch_x, batch_y in train_loader:
        loss = nn.functional.cross_entropy(model(batch_x), batch_y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy {accuracy(model, val_loader, batch_size):.3f}")
