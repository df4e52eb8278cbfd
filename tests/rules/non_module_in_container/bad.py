import torch
from torch import nn


class EdgeEncoder(nn.Module):
    def __init__(self, types=4, dim=8):
        super().__init__()
        weights = [nn.Linear(dim, dim)] + [nn.Parameter(torch.randn(dim) * 0.1) for _ in range(types)]
        self.edge_weight = nn.ModuleList(weights)  # expect: ERR041
        self.out = nn.Linear(dim, 1)

    def forward(self, x, kind):
        return self.out(self.edge_weight[0](x) * self.edge_weight[kind + 1])


torch.manual_seed(0)
model = EdgeEncoder()
print(model(torch.randn(5, 8), 1).shape)
