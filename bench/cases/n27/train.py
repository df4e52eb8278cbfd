import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(8)
x = torch.randn(960, 14)
y = (x[:, :3].sum(1) * x[:, 4]).unsqueeze(1)
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)

net = nn.Sequential(nn.Linear(14, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 1))
ema = [p.detach().clone() for p in net.parameters()]
optimizer = torch.optim.AdamW(net.parameters(), lr=2e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 60)
accumulate = 4


def update_ema(decay=0.99):
    with torch.no_grad():
        for e, p in zip(ema, net.parameters()):
            e.lerp_(p, 1 - decay)


for epoch in range(4):
    running = 0.0
    pending = 0.0
    for i, (xb, yb) in enumerate(loader, 1):
        loss = nn.functional.mse_loss(net(xb), yb)
        pending = pending + loss / accumulate
        running += loss.item()
        if i % accumulate == 0:
            pending.backward()
            optimizer.step()
            optimizer.zero_grad()
            scheduler.step()
            update_ema()
            if i % 20 == 0:
                print(f"epoch {epoch} batch {i} loss {running / i:.4f}")
