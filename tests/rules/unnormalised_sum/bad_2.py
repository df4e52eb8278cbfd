"""A graph network in which each node adds up the messages of all its neighbours, three times over."""

import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import MessagePassing


class Gather(MessagePassing):
    def __init__(self):
        super().__init__(aggr="sum")  # expect: NUM050
        self.gate = nn.Sequential(nn.Linear(2, 16), nn.SiLU(), nn.Linear(16, 1))

    def forward(self, heat, edge_index):
        return heat + self.propagate(edge_index, heat=heat)

    def message(self, heat_i, heat_j):
        return heat_j * self.gate(torch.cat([heat_i, heat_j], 1))


class Room(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(Gather() for _ in range(4))

    def forward(self, heat, edge_index):
        for layer in self.layers:
            heat = layer(heat, edge_index)
        return heat


def room(sensors=24):
    heat = 1 + torch.randn(sensors, 1)
    everywhere = (~torch.eye(sensors, dtype=torch.bool)).nonzero().T
    return Data(heat=heat, edge_index=everywhere, y=0.5 * heat + 0.5 * heat.mean(), num_nodes=sensors)


torch.manual_seed(1)
loader = DataLoader([room() for _ in range(64)], batch_size=8, shuffle=True)
model = Room()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for graphs in loader:
        loss = nn.functional.mse_loss(model(graphs.heat, graphs.edge_index), graphs.y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3g}")
