from model_ring import WIDTH  # expect: ERR104
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return x + self.inner(x).relu()
