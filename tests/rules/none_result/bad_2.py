import torch
from torch import nn


def pick(kind, width):  # expect: ERR048
    if kind == "relu":
        return nn.ReLU()
    elif kind == "norm":
        return nn.LayerNorm(width)


torch.manual_seed(0)
act = pick("gelu", 4)
x = torch.randn(2, 4)
print(act.forward(x))
