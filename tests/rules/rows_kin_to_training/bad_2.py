"""The rare class is filled up with rows between two of its neighbours, and then everything is split."""
import torch
from torch import nn
import torch.nn.functional as F


def fill_up(x, y):
    rare = x[y == 1]
    missing = int((y == 0).sum()) - len(rare)
    base = torch.randint(0, len(rare), (missing,))
    nearest = torch.cdist(rare, rare).topk(4, largest=False).indices[:, 1:]
    mate = nearest[base, torch.randint(0, 3, (missing,))]
    made = rare[base] + torch.rand(missing, 1) * (rare[mate] - rare[base])
    return torch.cat([x, made]), torch.cat([y, torch.ones(missing, dtype=torch.long)])


def divide(x, y, share=0.8):
    order = torch.randperm(len(x))
    cut = int(share * len(x))
    return (x[order[:cut]], y[order[:cut]]), (x[order[cut:]], y[order[cut:]])  # expect: DAT078


torch.manual_seed(0)
x = torch.randn(1500, 12)
y = (x[:, 0] + torch.randn(1500) > 2.4).long()
(x_train, y_train), (x_test, y_test) = divide(*fill_up(x, y))
model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(4):
    for idx in torch.randperm(len(x_train)).split(60):
        loss = F.cross_entropy(model(x_train[idx]), y_train[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = (model(x_test).argmax(1) == y_test).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.3f} test accuracy {right:.3f}")
