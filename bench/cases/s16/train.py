import torch
import torch.nn.functional as F
from torch_geometric.data import Data
from torch_geometric.nn import SAGEConv


class SAGE(torch.nn.Module):
    def __init__(self, n_in, hidden, n_out, dropout=0.6):
        super().__init__()
        self.conv1 = SAGEConv(n_in, hidden)
        self.conv2 = SAGEConv(hidden, n_out)
        self.dropout = dropout

    def forward(self, x, edge_index):
        x = F.dropout(x, p=self.dropout)
        x = F.relu(self.conv1(x, edge_index))
        x = F.dropout(x, p=self.dropout)
        return self.conv2(x, edge_index)


def citation_graph(n=600, classes=5, feats=40, seed=3):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, classes, (n,), generator=g)
    src = torch.randint(0, n, (n * 12,), generator=g)
    dst = torch.randint(0, n, (n * 12,), generator=g)
    keep = (y[src] == y[dst]) | (torch.rand(len(src), generator=g) < 0.12)
    edge_index = torch.stack([src[keep], dst[keep]])
    topic = torch.randn(classes, feats, generator=g) * 0.35
    x = topic[y] + torch.randn(n, feats, generator=g)
    idx = torch.randperm(n, generator=g)
    return Data(x=x, y=y, edge_index=edge_index, train_idx=idx[:150], test_idx=idx[150:])


torch.manual_seed(0)
data = citation_graph()
model = SAGE(40, 32, 5)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)


def train():
    model.train()
    optimizer.zero_grad()
    out = model(data.x, data.edge_index)
    loss = F.cross_entropy(out[data.train_idx], data.y[data.train_idx])
    loss.backward()
    optimizer.step()
    return loss.item()


@torch.no_grad()
def test():
    model.eval()
    pred = model(data.x, data.edge_index).argmax(dim=1)
    return (pred[data.test_idx] == data.y[data.test_idx]).float().mean().item()


for epoch in range(1, 121):
    loss = train()
    if epoch % 20 == 0:
        print(f"Epoch: {epoch:03d}, Loss: {loss:.4f}, Test: {test():.4f}")
