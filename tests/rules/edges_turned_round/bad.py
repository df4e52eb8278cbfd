import torch
import torch.nn.functional as F
from torch import nn


def graph(n, count):
    a, b = torch.randint(0, n, (2, 4 * count))
    near = ((a - b).abs() % n < 12) & (a < b)
    pairs = torch.stack([a, b])[:, near].unique(dim=1)[:, :count]
    return torch.cat([pairs, pairs.flip(0)], dim=1)


def split(edges, share):
    order = torch.randperm(edges.shape[1])
    cut = int(share * edges.shape[1])
    return edges[:, order[cut:]], edges[:, order[:cut]]


torch.manual_seed(0)
nodes = nn.Embedding(200, 32)
train_edges, test_edges = split(graph(200, 4000), 0.3)  # expect: DAT148
optimizer = torch.optim.Adam(nodes.parameters(), lr=0.01)
for step in range(60):
    others = torch.randint(0, 200, train_edges.shape)
    pairs = torch.cat([train_edges, others], dim=1)
    scores = (nodes(pairs[0]) * nodes(pairs[1])).sum(1)
    target = torch.cat([torch.ones(train_edges.shape[1]), torch.zeros(others.shape[1])])
    loss = F.binary_cross_entropy_with_logits(scores, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    found = ((nodes(test_edges[0]) * nodes(test_edges[1])).sum(1) > 0).float().mean()
print(f"loss {loss.item():.3f} found {found:.3f}")
