import math

import torch
from torch import nn

torch.manual_seed(0)


class CrossAttention(nn.Module):
    def __init__(self, dim, ctx_dim, heads=4):
        super().__init__()
        self.heads, self.width = heads, dim // heads
        self.q = nn.Linear(dim, dim)
        self.k = nn.Linear(ctx_dim, dim)
        self.v = nn.Linear(ctx_dim, dim)

    def split(self, t):
        return t.view(*t.shape[:2], self.heads, self.width)

    def forward(self, x, ctx):
        q = self.split(self.q(x)).transpose(1, 2)
        k = self.split(self.k(ctx)).transpose(1, 2)
        v = self.split(self.v(ctx))  # expect: ERR004
        att = torch.einsum("bhid,bhjd->bhij", q, k) / math.sqrt(self.width)
        out = torch.einsum("bhij,bhjd->bhid", att.softmax(-1), v)
        return out.transpose(1, 2).reshape(x.shape)


model = CrossAttention(32, 20)
out = model(torch.randn(6, 16, 32), torch.randn(6, 7, 20))
out.pow(2).mean().backward()
