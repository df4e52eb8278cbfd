import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, width):
        self.proj = nn.Linear(width, width)
        super().__init__()  # expect: ERR042

    def forward(self, x):
        return x * torch.sigmoid(self.proj(x))


torch.manual_seed(0)
print(Gate(6)(torch.randn(2, 6)))
