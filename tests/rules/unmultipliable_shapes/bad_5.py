import torch
from torch import nn
from torch_geometric.nn import GATConv


class Net(nn.Module):
    def __init__(self, hidden, heads):
        super().__init__()
        self.first = GATConv(5, hidden, heads=heads)
        self.second = GATConv(hidden, 3, concat=False)  # expect: ERR002

    def forward(self, x, edge_index):
        x = self.first(x, edge_index).relu()
        return self.second(x, edge_index)


torch.manual_seed(0)
edges = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]])
Net(8, 4)(torch.randn(4, 5), edges)
