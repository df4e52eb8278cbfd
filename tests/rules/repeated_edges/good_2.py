import torch
from torch_geometric.data import Data

import torchmedic

# Events: the same two meet again at another time.
torch.manual_seed(0)
pairs = torch.randint(0, 20, (2, 40)).repeat(1, 6)
pairs = pairs[:, pairs[0] != pairs[1]]
edge_time = torch.arange(pairs.shape[1])

torchmedic.check_data(Data(x=torch.randn(20, 4), edge_index=pairs, edge_time=edge_time, num_nodes=20))
