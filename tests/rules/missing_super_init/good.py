import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, width):
        self.width = width
        super().__init__()
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return x * torch.sigmoid(self.proj(x))


torch.manual_seed(0)
print(Gate(6)(torch.randn(2, 6)))
