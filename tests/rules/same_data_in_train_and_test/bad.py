"""Two random splits of one data set: each is right, together they overlap."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
x = torch.randn(500, 8)
data = TensorDataset(x, (x[:, 0] + 0.5 * torch.randn(500) > 0).long())
train_set, _ = random_split(data, [400, 100])
_, val_set = random_split(data, [400, 100])  # expect: DAT002
train_loader = DataLoader(train_set, batch_size=40, shuffle=True)
val_loader = DataLoader(val_set, batch_size=50)
model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(4):
    model.train()
    for xb, yb in train_loader:
        loss = nn.functional.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        hits = sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in val_loader)
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy {hits / 100:.2f}")
