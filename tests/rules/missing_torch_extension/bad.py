import torch
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader

torch.manual_seed(0)
graph = Data(x=torch.randn(40, 8), edge_index=torch.randint(0, 40, (2, 160)), y=torch.randint(0, 3, (40,)))
loader = NeighborLoader(graph, num_neighbors=[5, 5], batch_size=8)
for batch in loader:  # expect: ENV004
    print(batch.x.shape)
