"""Windows are cut from a long series at every step: the earlier ones to train on, the later ones to test."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def windows(series, width):
    x = series.unfold(0, width, 1)[:-1]
    return TensorDataset(x, series[width:].unsqueeze(1))


torch.manual_seed(0)
series = torch.cumsum(torch.randn(1200), 0) * 0.1
train_set, test_set = windows(series[:900], 24), windows(series[900:], 24)
train_loader = DataLoader(train_set, batch_size=50, shuffle=True)
test_loader = DataLoader(test_set, batch_size=50)
model = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    model.train()
    for x, y in train_loader:
        loss = F.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        total = sum(F.mse_loss(model(x), y, reduction="sum").item() for x, y in test_loader)
    print(f"epoch {epoch} loss {loss.item():.3f} test {total / len(test_set):.3f}")
