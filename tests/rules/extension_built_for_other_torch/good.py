import torch
from torch import nn


class Propagate(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)

    def forward(self, adjacency, x):
        return self.linear(torch.sparse.mm(adjacency, x))


torch.manual_seed(0)
net = Propagate(4)
print(net(torch.eye(3).to_sparse(), torch.randn(3, 4)).shape)
