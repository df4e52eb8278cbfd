import torch
from torch_geometric.data import Data

import torchmedic

# The table of events was joined with another that had two rows for some of them.
torch.manual_seed(0)
pairs = torch.stack([torch.arange(60), (torch.arange(60) * 7 + 3) % 60])
measured = torch.randn(60, 2)
double = torch.cat([torch.arange(60), torch.arange(25)])

torchmedic.check_data(Data(x=torch.randn(60, 4), edge_index=pairs[:, double], edge_attr=measured[double]))  # expect: DAT132
