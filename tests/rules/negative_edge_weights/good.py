import torch
from torch_geometric.data import Data

import torchmedic

torch.manual_seed(0)
edge_index = torch.stack([torch.arange(60), (torch.arange(60) + 1) % 60])
correlation = torch.linspace(-0.4, 0.9, 60)
graph = Data(x=torch.randn(60, 4), edge_index=edge_index, edge_attr=correlation[:, None])

torchmedic.check_data(graph)
