import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

NODES = 20
rows = [(i, i % NODES + 1) for i in range(1, NODES + 1)]


def load_graph():
    edge_index = torch.tensor(rows).T  # expect: ERR065
    return Data(x=torch.randn(NODES, 4), edge_index=edge_index)


torch.manual_seed(0)
graph = load_graph()
conv = GCNConv(4, 2)
conv(graph.x, graph.edge_index).square().mean().backward()
