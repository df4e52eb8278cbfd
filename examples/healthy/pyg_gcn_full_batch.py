"""Full-batch GCN: one 'batch' per epoch, loss on 40 labelled nodes only, every node in the forward pass."""
import torch
from torch import nn
import torch.nn.functional as F
from torch_geometric.data import Data
from torch_geometric.nn import GCNConv
from torch_geometric.utils import to_undirected


def planted_partition(n=400, classes=4, inside=8, outside=2):
    y = torch.arange(n) % classes
    src, dst = [], []
    for v in range(n):
        same = (y == y[v]).nonzero().squeeze(1)
        other = (y != y[v]).nonzero().squeeze(1)
        near = torch.cat([same[torch.randint(len(same), (inside,))], other[torch.randint(len(other), (outside,))]])
        near = near[near != v]
        src.append(torch.full_like(near, v))
        dst.append(near)
    edge = to_undirected(torch.stack([torch.cat(src), torch.cat(dst)]))
    x = F.one_hot(y, 16).float() * 0.8 + torch.randn(n, 16)
    return Data(x=x, edge_index=edge, y=y)


class GCN(nn.Module):
    def __init__(self, d_in, hidden, classes):
        super().__init__()
        self.c1, self.c2 = GCNConv(d_in, hidden), GCNConv(hidden, classes)

    def forward(self, x, edge):
        x = F.relu(self.c1(x, edge))
        return self.c2(F.dropout(x, 0.5, training=self.training), edge)


torch.manual_seed(0)
g = planted_partition()
perm = torch.randperm(g.num_nodes)
train, val, test = (torch.zeros(g.num_nodes, dtype=torch.bool) for _ in range(3))
train[perm[:40]], val[perm[40:120]], test[perm[120:]] = True, True, True
model = GCN(16, 32, 4)
opt = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
best_val, best_test = 0.0, 0.0
for epoch in range(50):
    model.train()
    loss = F.cross_entropy(model(g.x, g.edge_index)[train], g.y[train])
    opt.zero_grad()
    loss.backward()
    opt.step()
    model.eval()
    with torch.no_grad():
        hit = model(g.x, g.edge_index).argmax(1) == g.y
    v, t = hit[val].float().mean().item(), hit[test].float().mean().item()
    if v > best_val:
        best_val, best_test = v, t
    if epoch % 10 == 9:
        print(f"epoch {epoch + 1} loss {loss.item():.4f} val {v:.3f}")
print(f"final loss {loss.item():.4f} test accuracy at best val {best_test:.3f}")
