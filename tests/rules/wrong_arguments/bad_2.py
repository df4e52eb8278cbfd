import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(3))

    def forward(x):  # expect: ERR046
        return x * 2


torch.manual_seed(0)
print(Scale()(torch.randn(4, 3)))
