import torch
from torch import nn


def pick(kind, width):
    if kind == "relu":
        return nn.ReLU()


torch.manual_seed(0)
act = pick("gelu", 4)
x = torch.randn(2, 4)
print(x if act is None else act(x))
