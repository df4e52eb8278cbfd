import torch
from torch_geometric.data import Data

import torchmedic

torch.manual_seed(0)
x = torch.randn(50, 4)
edges = torch.tensor([[i, (i * 7 + 1) % 50] for i in range(50)], dtype=torch.float32)
graph = Data(x=x, edge_index=edges.t())

torchmedic.check_data(graph)  # expect: DAT129
