import torch
from torch_geometric.data import Data

import torchmedic

torch.manual_seed(0)
x = torch.randn(200, 8)
# The file numbers its nodes from 1.
edge_index = torch.stack([torch.arange(1, 200), torch.arange(2, 201)])
torch.save(Data(x=x, edge_index=edge_index), "citations.pt")

torchmedic.check_data("citations.pt")  # expect: DAT128
