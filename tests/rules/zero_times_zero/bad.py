import torch
from torch import nn


class Adapted(nn.Module):
    def __init__(self, base, rank=4):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Parameter(torch.zeros(rank, base.in_features))  # expect: WIR211
        self.up = nn.Parameter(torch.zeros(base.out_features, rank))

    def forward(self, x):
        return self.base(x) + x @ self.down.T @ self.up.T


torch.manual_seed(0)
x = torch.randn(256, 12)
y = (x[:, :3] * x[:, 3:6]).sum(1, keepdim=True)
body = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 1))
model = nn.Sequential(Adapted(body[0]), nn.ReLU(), body[2].requires_grad_(False))
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
for epoch in range(5):
    for rows in torch.randperm(256).split(32):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
