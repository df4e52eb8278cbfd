import torch
from torch import nn
import torch.nn.functional as F


class DeepNet(nn.Module):
    def __init__(self, depth=3):
        super().__init__()
        self.first = nn.Linear(8, 16)
        self.hidden = nn.ModuleList()
        for _ in range(depth):
            self.hidden.append(nn.Linear(16, 16))
        self.last = nn.Linear(16, 1)

    def forward(self, x):
        x = self.first(x).relu()
        for layer in self.hidden:
            x = layer(x).relu()
        return self.last(x)


torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x[:, :1] * x[:, 1:2]).sin()
model = DeepNet()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(4):
    for idx in torch.randperm(256).split(32):
        optimizer.zero_grad()
        loss = F.mse_loss(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
