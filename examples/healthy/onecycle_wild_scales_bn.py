"""Raw columns from 1e-4 to 1e6 with no scaler: an input BatchNorm (affine off) does it. Batches of 24, OneCycleLR per batch."""
import torch
from torch import nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
z = torch.randn(1500, 5)
y = z[:, 0] - 2 * z[:, 1] * z[:, 2] + torch.cos(z[:, 3]) + 0.05 * torch.randn(1500)
x = z * torch.tensor([1e-4, 1.0, 40.0, 3e3, 1e6]) + torch.tensor([2e-4, 0.0, 1e2, -5e3, 2e6])
mean, std = y[:1200].mean(), y[:1200].std()
y = (y - mean) / std
train = DataLoader(TensorDataset(x[:1200], y[:1200]), batch_size=24, shuffle=True)

model = nn.Sequential(
    nn.BatchNorm1d(5, affine=False, eps=1e-12, momentum=0.02),
    nn.Linear(5, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1),
)
EPOCHS = 25
# settle the running statistics on the training set before the first step
model[0].momentum = None
model.train()
with torch.no_grad():
    for xb, _ in train:
        model[0](xb)
model[0].momentum = 0.02
opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=4e-3, total_steps=EPOCHS * len(train))
for epoch in range(EPOCHS):
    model.train()
    total = 0.0
    for xb, yb in train:
        loss = F.mse_loss(model(xb).squeeze(1), yb)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        opt.step()
        sched.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        val = F.mse_loss(model(x[1200:]).squeeze(1), y[1200:]).item()
    if epoch % 5 == 4:
        print(f"epoch {epoch + 1} train {total / len(train):.4f} test {val:.4f} lr {sched.get_last_lr()[0]:.6f}")
print(f"final test mse {val:.4f} (unit variance target)")
