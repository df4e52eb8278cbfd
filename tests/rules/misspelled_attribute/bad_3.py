import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, dim, use_norm=False):
        super().__init__()
        self.lin = nn.Linear(dim, dim)
        if use_norm:
            self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        return self.norm(self.lin(x))


torch.manual_seed(0)
encoder = Encoder(8)  # expect: ERR043
print(encoder(torch.randn(2, 8)).mean())
