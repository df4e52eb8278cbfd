import torch
from torch_geometric.data import HeteroData
from torch_geometric.nn import HeteroConv, SAGEConv

torch.manual_seed(0)
data = HeteroData()
data["user"].x = torch.randn(40, 8)
data["film"].x = torch.randn(60, 12)
data["user", "rates", "film"].edge_index = torch.stack([torch.randint(0, 40, (200,)), torch.randint(0, 60, (200,))])
data["film", "rated_by", "user"].edge_index = data["user", "rates", "film"].edge_index.flip(0)
target = (data["user"].x.sum(1) > 0).long()


class Net(torch.nn.Module):
    def __init__(self, width=16):
        super().__init__()
        both = [("user", "rates", "film"), ("film", "rated_by", "user")]
        self.c1 = HeteroConv({edge: SAGEConv((-1, -1), width) for edge in both})
        self.c2 = HeteroConv({both[1]: SAGEConv((-1, -1), width)})
        self.out = torch.nn.Linear(width, 2)

    def forward(self, x, edges):
        x = {kind: rows.relu() for kind, rows in self.c1(x, edges).items()}
        x = {kind: rows.relu() for kind, rows in self.c2(x, edges).items()}
        return self.out(x["user"])


net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(5):
    out = net(data.x_dict, data.edge_index_dict)
    loss = torch.nn.functional.cross_entropy(out, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
