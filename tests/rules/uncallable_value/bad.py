import torch
from torch import nn


class Stack(nn.Module):
    def __init__(self, depth=3, width=8):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))

    def forward(self, x):
        return self.layers(x)  # expect: ERR047


torch.manual_seed(0)
print(Stack()(torch.randn(2, 8)))
