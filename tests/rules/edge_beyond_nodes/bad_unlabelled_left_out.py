import torch
from torch.nn import functional as F
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv


def raw_graph(nodes=80, edges=300):
    g = torch.Generator().manual_seed(0)
    y = torch.randint(0, 3, (nodes,), generator=g)
    y[torch.randperm(nodes, generator=g)[:20]] = -1
    ends = torch.randint(0, nodes, (2, edges), generator=g)
    return Data(x=torch.randn(nodes, 12, generator=g), edge_index=ends, y=y)


def drop_unlabelled(data):
    keep = data.y >= 0
    source, target = data.edge_index
    both = keep[source] & keep[target]
    return Data(x=data.x[keep], y=data.y[keep], edge_index=data.edge_index[:, both])  # expect: ERR065


torch.manual_seed(0)
data = drop_unlabelled(raw_graph())
model = GCNConv(12, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
loss = F.cross_entropy(model(data.x, data.edge_index), data.y)
optimizer.zero_grad()
loss.backward()
optimizer.step()
