"""A class of each graph that is called by a number, and set after the graph has been made."""

import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, global_add_pool

torch.manual_seed(0)
graphs = []
for n in torch.randint(5, 20, (64,)).tolist():
    graph = Data(x=torch.randn(n, 4), edge_index=torch.randint(0, n, (2, 3 * n)))
    graph.class_index = torch.tensor([n % 3])  # expect: DAT240
    graphs.append(graph)

conv, head = GCNConv(4, 16), nn.Linear(16, 3)
optimizer = torch.optim.Adam([*conv.parameters(), *head.parameters()], lr=1e-3)
for several in DataLoader(graphs, batch_size=4, shuffle=True):
    scores = head(global_add_pool(conv(several.x, several.edge_index).relu(), several.batch))
    loss = nn.functional.cross_entropy(scores, several.class_index)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
