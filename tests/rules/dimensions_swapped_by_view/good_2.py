"""Attention written by hand, four heads."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = (part.view(b, t, self.heads, d // self.heads).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        mixed = F.scaled_dot_product_attention(q, k, v)
        mixed = mixed.transpose(1, 2).reshape(b, t, d)
        return self.out(mixed)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 16)
        self.attention = Attention(16, 4)
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        return self.head(self.attention(self.inner(x)).mean(1))


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(60):
    x = torch.randn(16, 10, 3)
    y = (x[:, 0, 0] > x[:, -1, 0]).long()
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
