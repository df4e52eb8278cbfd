import sys

import torch
from torch import nn

sys.path.insert(0, "site-packages")
from torch_sparse import SparseTensor  # expect: ENV003


class Propagate(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)

    def forward(self, adjacency: SparseTensor, x):
        return self.linear(adjacency @ x)


torch.manual_seed(0)
net = Propagate(4)
print(net(torch.eye(3), torch.randn(3, 4)).shape)
