"""Graph classification with PyG's loader: every batch has another number of nodes, some graphs have no edges at all."""
import torch
from torch import nn
import torch.nn.functional as F
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GINConv, global_add_pool


def random_graph():
    n = int(torch.randint(4, 12, ()))
    label = int(torch.randint(2, ()))
    if label:  # ring
        a = torch.arange(n)
        pair = torch.stack([a, (a + 1) % n])
    elif torch.rand(()) < 0.15:  # isolated nodes
        pair = torch.empty(2, 0, dtype=torch.long)
    else:  # random tree
        child = torch.arange(1, n)
        parent = (torch.rand(n - 1) * child).long()
        pair = torch.stack([child, parent])
    edge = torch.cat([pair, pair.flip(0)], 1)
    return Data(x=torch.ones(n, 1), edge_index=edge, y=torch.tensor([label]), num_nodes=n)


class GIN(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        mlp = lambda i: nn.Sequential(nn.Linear(i, dim), nn.ReLU(), nn.Linear(dim, dim), nn.ReLU())
        self.c1, self.c2 = GINConv(mlp(1), train_eps=True), GINConv(mlp(dim), train_eps=True)
        self.head = nn.Linear(dim, 2)

    def forward(self, data):
        h = self.c1(data.x, data.edge_index)
        h = self.c2(h, data.edge_index)
        return self.head(global_add_pool(h, data.batch))


torch.manual_seed(0)
graphs = [random_graph() for _ in range(600)]
train_loader = DataLoader(graphs[:480], batch_size=32, shuffle=True)
test_loader = DataLoader(graphs[480:], batch_size=120)
model = GIN()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(7):
    model.train()
    total = 0.0
    for batch in train_loader:
        loss = F.cross_entropy(model(batch), batch.y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item() * batch.num_graphs
    model.eval()
    with torch.no_grad():
        hits = sum((model(b).argmax(1) == b.y).sum().item() for b in test_loader)
    if epoch % 2 == 0:
        print(f"epoch {epoch + 1} loss {total / 480:.4f} test acc {hits / 120:.3f}")
print(f"final test accuracy {hits / 120:.3f}")
