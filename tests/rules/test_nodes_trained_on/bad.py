import torch
import torch.nn.functional as F
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv


def communities(nodes=120, classes=3):
    y = torch.arange(nodes) % classes
    near = torch.rand(nodes, nodes) < torch.where(y[:, None] == y, 0.12, 0.02)
    edges = (near | near.t()).nonzero().t().contiguous()
    train_mask = torch.rand(nodes) < 0.3
    x = torch.randn(nodes, 8) + F.one_hot(y, 8)
    return Data(x=x, edge_index=edges, y=y, train_mask=train_mask, test_mask=~train_mask)


class GCN(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(8, 16), GCNConv(16, 3)

    def forward(self, data):
        return self.second(self.first(data.x, data.edge_index).relu(), data.edge_index)


torch.manual_seed(0)
data = communities()
model = GCN()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(40):
    out = model(data)
    loss = F.cross_entropy(out, data.y)  # expect: DAT070
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
right = model(data).argmax(1) == data.y
print(f"test accuracy {right[data.test_mask].float().mean():.3f}")
