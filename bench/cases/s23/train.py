import torch
from torch import nn
from torch.optim.lr_scheduler import OneCycleLR
from torch.utils.data import DataLoader, TensorDataset

EPOCHS, MAX_LR = 8, 0.2


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.ff = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

    def forward(self, x):
        return x + self.ff(self.norm(x))


def build():
    return nn.Sequential(nn.Linear(10, 32), Block(32), Block(32), nn.Linear(32, 1))


def surface(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.rand(n, 10, generator=g) * 2 - 1
    y = 10 * torch.sin(torch.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    return x, ((y - 13) / 15).unsqueeze(1)


torch.manual_seed(0)
x, y = surface(2560, 1)
xv, yv = surface(500, 2)
loader = DataLoader(TensorDataset(x, y), batch_size=64, shuffle=True)
model = build()
optimizer = torch.optim.SGD(model.parameters(), lr=MAX_LR)
scheduler = OneCycleLR(optimizer, max_lr=MAX_LR, epochs=EPOCHS, steps_per_epoch=len(loader))
criterion = nn.MSELoss()
for epoch in range(EPOCHS):
    model.train()
    running = 0.0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        running += loss.item()
    scheduler.step()
    model.eval()
    with torch.no_grad():
        val = criterion(model(xv), yv).item()
    print(f"epoch {epoch} train {running / len(loader):.4f} val {val:.4f} lr {scheduler.get_last_lr()[0]:.5f}")
