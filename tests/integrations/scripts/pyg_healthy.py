"""Graphs in mini-batches of different sizes, with isolated nodes: nothing is wrong here."""
import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv, global_mean_pool

torch.manual_seed(0)


def graph(label):
    nodes = int(torch.randint(5, 12, ()))
    x = torch.randn(nodes, 6) + label
    return Data(x=x, edge_index=torch.randint(0, nodes, (2, nodes)), y=torch.tensor([label]))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(6, 16), GCNConv(16, 16)
        self.out = nn.Linear(16, 2)

    def forward(self, data):
        x = F.relu(self.first(data.x, data.edge_index))
        x = F.relu(self.second(x, data.edge_index))
        return self.out(global_mean_pool(x, data.batch))


train = DataLoader([graph(i % 2) for i in range(160)], batch_size=16, shuffle=True)
val = DataLoader([graph(i % 2) for i in range(40)], batch_size=40)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    model.train()
    for data in train:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(data), data.y)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        for data in val:
            val_loss = F.cross_entropy(model(data), data.y)
