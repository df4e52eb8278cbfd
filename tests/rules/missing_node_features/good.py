import torch
from torch_geometric.data import HeteroData

import torchmedic

torch.manual_seed(0)
graph = HeteroData()
graph["user"].x = torch.randn(40, 5)
graph["song"].x = torch.ones(25, 1)
edges = torch.stack([torch.arange(40), torch.arange(40) % 25])
graph["user", "plays", "song"].edge_index = edges
graph["song", "played_by", "user"].edge_index = edges.flip(0)

torchmedic.check_data(graph)
