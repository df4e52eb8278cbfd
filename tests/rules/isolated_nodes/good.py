import torch
from torch_geometric.data import Data

import torchmedic

torch.manual_seed(0)
x = torch.randn(120, 4)
edge_index = torch.stack([torch.arange(0, 119), torch.arange(1, 120)])

torchmedic.check_data(Data(x=x, edge_index=edge_index))
