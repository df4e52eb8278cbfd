import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS, WARMUP, PEAK = 6, 100, 0.01


def set_rate(optimizer, epoch, i, per_epoch):
    step = epoch * per_epoch + i
    if step < WARMUP:
        rate = PEAK * (step + 1) / WARMUP
    else:
        rate = PEAK * (1 - (step - WARMUP) / (EPOCHS * per_epoch - WARMUP))
    for group in optimizer.param_groups:
        group["lr"] = rate


torch.manual_seed(0)
x = torch.randn(960, 10)
loader = DataLoader(TensorDataset(x, x[:, :2].prod(1)), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=PEAK)
for epoch in range(EPOCHS):
    for i, (features, target) in enumerate(loader):
        set_rate(optimizer, epoch, i, len(loader))
        loss = F.mse_loss(model(features).squeeze(1), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} lr {optimizer.param_groups[0]['lr']:.4f} loss {loss.item():.3f}")
