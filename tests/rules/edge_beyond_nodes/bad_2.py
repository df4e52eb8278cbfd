import torch
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv

PIPES = [(501, 502), (502, 503), (503, 504), (504, 501), (502, 504)]
PRESSURE = {501: 2.0, 502: 1.4, 503: 0.7, 504: 1.1}


def network():
    x = torch.tensor([[value] for value in PRESSURE.values()])
    both = PIPES + [(b, a) for a, b in PIPES]
    edge_index = torch.tensor(both).t().contiguous()  # expect: ERR065
    return Data(x=x, edge_index=edge_index)


torch.manual_seed(0)
data = network()
layer = GCNConv(1, 3)
out = layer(data.x, data.edge_index)
out.square().mean().backward()
