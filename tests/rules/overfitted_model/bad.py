"""Sixty noisy samples, a wide network, and forty epochs: the validation loss turned round long ago."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(260, 20)
y = ((x[:, 0] + 1.5 * torch.randn(260)) > 0).long()
train_loader = DataLoader(TensorDataset(x[:60], y[:60]), batch_size=20, shuffle=True)
val_loader = DataLoader(TensorDataset(x[60:], y[60:]), batch_size=100)
model = nn.Sequential(nn.Linear(20, 128), nn.ReLU(), nn.Linear(128, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(40):  # expect: TRN021
    model.train()
    for inputs, labels in train_loader:
        loss = F.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        val_loss = sum(F.cross_entropy(model(a), b).item() for a, b in val_loader) / len(val_loader)
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1} train {loss.item():.3f} val {val_loss:.3f}")
