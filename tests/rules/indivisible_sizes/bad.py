from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Size:
    layers: int
    heads: int = 8
    width: int = 100  # expect: ERR066


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.norm = nn.LayerNorm(size.width)
        self.attend = nn.MultiheadAttention(size.width, size.heads, batch_first=True)

    def forward(self, x):
        h = self.norm(x)
        return x + self.attend(h, h, h, need_weights=False)[0]


torch.manual_seed(0)
size = Size(layers=2)
model = nn.Sequential(*(Block(size) for _ in range(size.layers)), nn.Linear(size.width, 1))
model(torch.randn(4, 6, size.width)).square().mean().backward()
