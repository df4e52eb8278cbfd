import torch
from torch_geometric.data import Data

import torchmedic

torch.manual_seed(0)
x = torch.randn(200, 8)
edge_index = torch.stack([torch.arange(0, 199), torch.arange(1, 200)])
torch.save(Data(x=x, edge_index=edge_index), "citations.pt")

torchmedic.check_data("citations.pt")
