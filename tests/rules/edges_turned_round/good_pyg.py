import torch
import torch.nn.functional as F
from torch import nn
from torch_geometric.data import Data
from torch_geometric.transforms import RandomLinkSplit

torch.manual_seed(0)
a, b = torch.randint(0, 200, (2, 12000))
pairs = torch.stack([a, b])[:, ((a - b).abs() < 12) & (a < b)].unique(dim=1)
data = Data(x=torch.randn(200, 8), edge_index=torch.cat([pairs, pairs.flip(0)], dim=1))
transform = RandomLinkSplit(num_val=0.1, num_test=0.2, is_undirected=True)
train_data, val_data, test_data = transform(data)
nodes = nn.Embedding(200, 32)
optimizer = torch.optim.Adam(nodes.parameters(), lr=0.01)


def scores(part):
    ends = part.edge_label_index
    return (nodes(ends[0]) * nodes(ends[1])).sum(1)


for step in range(60):
    loss = F.binary_cross_entropy_with_logits(scores(train_data), train_data.edge_label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    hits = ((scores(test_data) > 0) == (test_data.edge_label > 0)).float().mean()
print(f"loss {loss.item():.3f} test {hits:.3f}")
