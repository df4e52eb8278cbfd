import torch
from torch_geometric.data import Data

import torchmedic

torch.manual_seed(0)
ring = torch.stack([torch.arange(80), (torch.arange(80) + 1) % 80])
edge_index = torch.cat([ring, ring[:, :30]], dim=1)

torchmedic.check_data(Data(x=torch.randn(80, 4), edge_index=edge_index))  # expect: DAT132
