"""Attention scores with `t()` on a batch."""
import torch

torch.manual_seed(0)
query, key = torch.randn(4, 10, 8), torch.randn(4, 10, 8)
scores = query @ key.t()  # expect: ERR284
print(scores.softmax(-1).shape)
