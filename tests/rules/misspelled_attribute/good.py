import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, dim, use_norm=False):
        super().__init__()
        self.lin = nn.Linear(dim, dim)
        if use_norm:
            self.norm = nn.LayerNorm(dim)

    def forward(self, x):
        x = self.lin(x)
        return self.norm(x) if hasattr(self, "norm") else x


torch.manual_seed(0)
print(Encoder(8)(torch.randn(2, 8)).mean(), Encoder(8, use_norm=True)(torch.randn(2, 8)).mean())
