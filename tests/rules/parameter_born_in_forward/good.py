import torch
from torch import nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.key = nn.Linear(8, 16)
        self.out = nn.Linear(16, 1)
        self.gate = nn.Parameter(torch.randn(16))

    def forward(self, x):
        h = self.key(x)
        return self.out(h * self.gate.sigmoid())


torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, :1] * x[:, 1:2]).sin()
model = Attention()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(4):
    for idx in torch.randperm(256).split(32):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
