import torch
from torch import nn
from torch_geometric.data import Batch, Data
from torch_geometric.nn import GCNConv, global_mean_pool


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.out = GCNConv(3, 8), GCNConv(8, 8), nn.Linear(16, 1)

    def forward(self, x, edge_index, batch):
        a = self.first(x, edge_index).relu()
        a = global_mean_pool(a, batch)  # expect: ERR065
        b = self.second(a, edge_index).relu()
        return self.out(torch.cat([a, global_mean_pool(b, batch)], dim=1))


torch.manual_seed(0)
graphs = [Data(x=torch.randn(5, 3), edge_index=torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]])) for _ in range(4)]
data = Batch.from_data_list(graphs)
Net()(data.x, data.edge_index, data.batch)
