import torch
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset, random_split


class Spectra(Dataset):
    def __init__(self, n):
        g = torch.Generator().manual_seed(3)
        self.kind = torch.randint(0, 4, (n,), generator=g)
        grid = torch.linspace(0, 1, 64)
        peak = 0.2 + 0.2 * self.kind.float()[:, None] + 0.02 * torch.randn(n, 1, generator=g)
        self.curve = torch.exp(-((grid - peak) / 0.05) ** 2) + 0.1 * torch.randn(n, 64, generator=g)

    def __len__(self):
        return len(self.kind)

    def __getitem__(self, i):
        return self.curve[i], self.kind[i]


def get_model():
    return nn.Sequential(
        nn.Linear(64, 40), nn.BatchNorm1d(40), nn.ReLU(),
        nn.Linear(40, 20), nn.BatchNorm1d(20), nn.ReLU(),
        nn.Linear(20, 4),
    )


def train_epoch(model, loader, opt, crit):
    model.train()
    seen, total = 0, 0.0
    for curve, kind in loader:
        opt.zero_grad()
        loss = crit(model(curve), kind)
        loss.backward()
        opt.step()
        seen += len(kind)
        total += loss.item() * len(kind)
    return total / seen


torch.manual_seed(0)
full = Spectra(801)
train_set, val_set = random_split(full, [0.8, 0.2])
train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
val_loader = DataLoader(val_set, batch_size=64)
print(len(train_set), "train,", len(val_set), "validation spectra")
model = get_model()
opt = optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(5):
    loss = train_epoch(model, train_loader, opt, nn.CrossEntropyLoss())
    model.eval()
    with torch.no_grad():
        good = sum((model(c).argmax(1) == k).sum().item() for c, k in val_loader)
    print(f"epoch {epoch} loss {loss:.4f} val acc {good / len(val_set):.3f}")
