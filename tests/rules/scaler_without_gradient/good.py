import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(640, 12)
y = x[:, :3].sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for epoch in range(3):
    for rows in torch.randperm(len(x)).split(16):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    print(f"epoch {epoch} loss {loss.item():.4f}")
