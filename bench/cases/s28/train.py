import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

HPARAMS = dict(epochs=5, batch_size=64, lr=0.3, width=16)


def shapes(n, seed, size=12):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 5, (n,), generator=g)
    yy, xx = torch.meshgrid(torch.arange(size) - 5.5, torch.arange(size) - 5.5, indexing="ij")
    masks = torch.stack([yy.abs() < 1.5, xx.abs() < 1.5, (yy ** 2 + xx ** 2) < 14, (yy - xx).abs() < 1.5, (yy ** 2 + xx ** 2 - 20).abs() < 7]).float()
    return masks[y].unsqueeze(1) + 0.7 * torch.randn(n, 1, size, size, generator=g), y


class ConvNet(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(2 * width * 9, 64), nn.ReLU(), nn.Linear(64, 5))

    def forward(self, x):
        return self.head(self.body(x))


def run(hp):
    torch.manual_seed(0)
    train_loader = DataLoader(TensorDataset(*shapes(2000, 1)), batch_size=hp["batch_size"], shuffle=True)
    xv, yv = shapes(500, 2)
    model = ConvNet(hp["width"])
    optimizer = torch.optim.Adam(model.parameters(), lr=hp["lr"])
    criterion = nn.CrossEntropyLoss()
    for epoch in range(hp["epochs"]):
        model.train()
        total = 0.0
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            acc = (model(xv).argmax(1) == yv).float().mean()
        print(f"epoch {epoch} loss {total / len(train_loader):.4f} val acc {acc:.3f}")


run(HPARAMS)
