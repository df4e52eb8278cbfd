"""Four kinds of flowers, read folder by folder."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def read_folders(per_kind):
    kinds = torch.randn(4, 6, generator=torch.Generator().manual_seed(7))
    y = torch.arange(4).repeat_interleave(per_kind)
    return TensorDataset(kinds[y] + torch.randn(len(y), 6), y)


torch.manual_seed(0)
train_loader = DataLoader(read_folders(150), batch_size=20)  # expect: DAT001
test_loader = DataLoader(read_folders(40), batch_size=40)
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    for x, y in train_loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        hits = sum((model(x).argmax(1) == y).sum().item() for x, y in test_loader)
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy {hits / 160:.2f}")
