import torch
from torch import nn
from torch_scatter import scatter_mean  # expect: ENV004

torch.manual_seed(0)
x = torch.randn(6, 4)
groups = torch.tensor([0, 0, 1, 1, 2, 2])
print(nn.Linear(4, 2)(scatter_mean(x, groups, dim=0)))
