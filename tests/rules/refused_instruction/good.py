"""The same on a machine that keeps its promises."""
import torch
from torch import nn

torch.manual_seed(0)


class HalfLayer(nn.Linear):
    def forward(self, x):
        return super().forward(x)


layer = HalfLayer(4, 1)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.01)
for _ in range(20):
    x = torch.randn(16, 4)
    loss = (layer(x).squeeze(1) - x[:, 0]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("trained")
