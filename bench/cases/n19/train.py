import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.data import Data
from torch_geometric.nn import MessagePassing
from torch_geometric.utils import degree


class NormConv(MessagePassing):
    def __init__(self, n_in, n_out):
        super().__init__(aggr="add")
        self.lin = nn.Linear(n_in, n_out, bias=False)
        self.root = nn.Linear(n_in, n_out)

    def forward(self, x, edge_index):
        src, dst = edge_index
        deg = degree(dst, x.size(0), dtype=x.dtype)
        inv = deg.pow(-0.5)
        norm = inv[src] * inv[dst]
        return self.propagate(edge_index, x=self.lin(x), norm=norm) + self.root(x)

    def message(self, x_j, norm):
        return norm.view(-1, 1) * x_j


class CitationNet(nn.Module):
    def __init__(self, n_in, n_cls, hidden=16):
        super().__init__()
        self.c1, self.c2 = NormConv(n_in, hidden), NormConv(hidden, n_cls)

    def forward(self, d):
        h = F.dropout(F.relu(self.c1(d.x, d.edge_index)), 0.3, self.training)
        return self.c2(h, d.edge_index)


def citations(n=300, n_edges=1500):
    group = torch.randint(0, 3, (n,))
    x = F.one_hot(group, 3).float() @ torch.randn(3, 12) + torch.randn(n, 12)
    a, b = torch.randint(0, n, (2, n_edges))
    keep = (a != b) & ((group[a] == group[b]) | (torch.rand(n_edges) < 0.1))
    src, dst = torch.maximum(a, b)[keep], torch.minimum(a, b)[keep]
    return Data(x=x, edge_index=torch.stack([src, dst]), y=group)


torch.manual_seed(0)
data = citations()
mask = torch.rand(data.num_nodes) < 0.5
net = CitationNet(12, 3)
opt = torch.optim.Adam(net.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(40):
    opt.zero_grad()
    out = net(data)
    loss = F.cross_entropy(out[mask], data.y[mask])
    loss.backward()
    opt.step()
    if epoch % 8 == 0:
        acc = (out[~mask].argmax(1) == data.y[~mask]).float().mean()
        print(f"{epoch:2d} loss {loss.item():.4f} test acc {acc.item():.3f}")
