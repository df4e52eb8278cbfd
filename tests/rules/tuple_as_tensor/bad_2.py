import torch
from torch import nn

torch.manual_seed(0)
attention = nn.MultiheadAttention(8, 2, batch_first=True)
head = nn.Linear(8, 2)
x = torch.randn(3, 7, 8)
mixed = attention(x, x, x)  # expect: ERR024
pooled = mixed.mean(dim=1)
head(pooled).sum().backward()
