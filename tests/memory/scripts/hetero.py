"""A heterogeneous graph that changes from step to step."""

import numpy as np
import torch
from torch_geometric.data import HeteroData
from torch_geometric.nn import HeteroConv, SAGEConv


def graph(rng: np.random.Generator) -> HeteroData:
    data = HeteroData()
    users, items = int(rng.integers(2000, 4000)), int(rng.integers(1000, 3000))
    data["user"].x, data["item"].x = torch.randn(users, 32), torch.randn(items, 16)
    edges = int(rng.integers(20_000, 60_000))
    pairs = np.stack([rng.integers(0, users, edges), rng.integers(0, items, edges)])
    data["user", "buys", "item"].edge_index = torch.from_numpy(pairs)
    data["item", "bought", "user"].edge_index = torch.from_numpy(pairs[::-1].copy())
    data["user"].y = torch.randint(0, 2, (users,))
    return data


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        kinds = [("user", "buys", "item"), ("item", "bought", "user")]
        self.first = HeteroConv({k: SAGEConv((-1, -1), 64) for k in kinds})
        self.second = HeteroConv({k: SAGEConv((64, 64), 64) for k in kinds})
        self.head = torch.nn.Linear(64, 2)

    def forward(self, x: dict, edges: dict) -> torch.Tensor:
        x = {k: v.relu() for k, v in self.first(x, edges).items()}
        return self.head(self.second(x, edges)["user"])


rng = np.random.default_rng(0)
device = torch.device("cuda")
model = Net().to(device)
with torch.no_grad():
    data = graph(rng).to(device)
    model(data.x_dict, data.edge_index_dict)
optimizer = torch.optim.Adam(model.parameters())
for _ in range(12):
    data = graph(rng).to(device)
    out = model(data.x_dict, data.edge_index_dict)
    active = data["user"].y[data["user", "buys", "item"].edge_index[0].unique()]
    loss = torch.nn.functional.cross_entropy(out, data["user"].y) + 0 * active.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
