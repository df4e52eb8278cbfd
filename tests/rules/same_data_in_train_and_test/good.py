"""One split, each part used once, and the score on the training data measured on purpose."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
x = torch.randn(500, 8)
data = TensorDataset(x, (x[:, 0] + 0.5 * torch.randn(500) > 0).long())
train_set, val_set = random_split(data, [400, 100])
train_loader = DataLoader(train_set, batch_size=40, shuffle=True)
train_score_loader = DataLoader(train_set, batch_size=100)
val_loader = DataLoader(val_set, batch_size=50)
model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)


@torch.no_grad()
def evaluate(loader):
    model.eval()
    return sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in loader) / len(loader.dataset)


for epoch in range(4):
    model.train()
    for xb, yb in train_loader:
        loss = nn.functional.cross_entropy(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} train {evaluate(train_score_loader):.2f} val {evaluate(val_loader):.2f}")
