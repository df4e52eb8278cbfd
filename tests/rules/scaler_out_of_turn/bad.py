import torch
from torch import nn

torch.manual_seed(0)
ACCUMULATE = 4
x = torch.randn(640, 12)
y = x[:, :3].sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
for epoch in range(3):
    optimizer.zero_grad()
    for index, rows in enumerate(torch.randperm(len(x)).split(16)):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        scaler.scale(loss / ACCUMULATE).backward()
        scaler.unscale_(optimizer)  # expect: WIR119
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        if (index + 1) % ACCUMULATE == 0:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
    print(f"epoch {epoch} loss {loss.item():.4f}")
