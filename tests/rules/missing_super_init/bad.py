import torch
from torch import nn


class Gate(nn.Module):
    def __init__(self, width):  # expect: ERR042
        self.width = width
        self.proj = nn.Linear(width, width)

    def forward(self, x):
        return x * torch.sigmoid(self.proj(x))


torch.manual_seed(0)
gate = Gate(6)
print(gate(torch.randn(2, 6)))
