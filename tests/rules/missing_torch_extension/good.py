import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

try:
    import torch_scatter  # optional: torch does it as well
except ImportError:
    torch_scatter = None

torch.manual_seed(0)
graph = Data(x=torch.randn(40, 8), edge_index=torch.randint(0, 40, (2, 160)), y=torch.randint(0, 3, (40,)))
conv = GCNConv(8, 3)
optimizer = torch.optim.Adam(conv.parameters(), lr=0.01)
for epoch in range(3):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(conv(graph.x, graph.edge_index), graph.y)
    loss.backward()
    optimizer.step()
