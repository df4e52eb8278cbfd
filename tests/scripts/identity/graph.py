"""A graph network of PyG: mini-batches of graphs, dropout on edges, pooling."""

import torch
from digest import show
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GATConv, GCNConv, global_mean_pool
from torch_geometric.utils import dropout_edge


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = GCNConv(5, 16)
        self.second = GATConv(16, 8, heads=2)
        self.out = nn.Linear(16, 2)

    def forward(self, data):
        edges, _ = dropout_edge(data.edge_index, p=0.2, training=self.training)
        x = self.first(data.x, edges).relu()
        x = self.second(x, edges).relu()
        return self.out(global_mean_pool(x, data.batch))


torch.manual_seed(5)
graphs = [
    Data(x=torch.randn(6, 5), edge_index=torch.randint(0, 6, (2, 14)), y=torch.tensor([i % 2])) for i in range(24)
]
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
losses = []
for _ in range(3):
    for batch in DataLoader(graphs, batch_size=8, shuffle=True):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(batch), batch.y)
        loss.backward()
        optimizer.step()
        losses.append(loss)
show(losses, model)
