import torch
import torch.nn.functional as F
from torch import nn


def set_requires_grad(module, flag):
    for p in module.parameters():
        if p.requires_grad:  # expect: WIR130
            p.requires_grad = flag


torch.manual_seed(0)
encoder = nn.Sequential(nn.Linear(8, 32), nn.Tanh())
model = nn.Sequential(encoder, nn.Linear(32, 1))
x = torch.randn(512, 8)
y = (x[:, :1] * x[:, 1:2]).sin()
set_requires_grad(encoder, False)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(8):
    if epoch == 3:
        set_requires_grad(encoder, True)
    for rows in torch.randperm(512).split(32):
        loss = F.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
