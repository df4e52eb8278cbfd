import torch
from torch import nn
import torch.nn.functional as F


class Towers(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(8, 16)
        self.heads = {"left": nn.Linear(16, 1), "right": nn.Linear(16, 1)}

    def forward(self, x):
        h = self.trunk(x).relu()
        return self.heads["left"](h) + self.heads["right"](h)


torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, :1] * x[:, 1:2]).sin()
model = Towers()
optimizer = torch.optim.SGD([*model.parameters(), *(p for h in model.heads.values() for p in h.parameters())], lr=1e-2)

for epoch in range(4):
    for idx in torch.randperm(256).split(32):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
