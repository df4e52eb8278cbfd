import torch
from torch import nn

torch.manual_seed(0)
attention_out = torch.randn(4, 2, 10, 8)
project = nn.Linear(16, 16)
merged = attention_out.transpose(1, 2)
joined = merged.view(4, 10, 16)  # expect: ERR005
project(joined).sum().backward()
