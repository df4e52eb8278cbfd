import torch
from torch_geometric.data import HeteroData

import torchmedic

torch.manual_seed(0)
graph = HeteroData()
graph["admission"].x = torch.randn(64, 6)
graph["item"].x = torch.randn(30, 6)
graph["admission", "has", "item"].edge_index = torch.stack([torch.arange(64), torch.arange(64) % 30])

torchmedic.check_data(graph)  # expect: DAT130
