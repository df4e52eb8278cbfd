import torch
from torch import nn


class ShareLog:
    def __init__(self, least):
        self.least = least
        self.rows = []

    def after_forward(self, shares):
        shares = shares.detach().clone().clamp_(self.least, 1.0)
        self.rows.append(shares.mean(0).tolist())


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 3), nn.Softmax(dim=-1))
log = ShareLog(0.01)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
wanted = torch.eye(3).repeat(6, 1)[:16]
for _ in range(6):
    x = torch.randn(16, 8) + wanted.repeat(1, 3)[:, :8]
    shares = model(x)
    loss = nn.functional.mse_loss(shares, wanted)
    log.after_forward(shares)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
