"""Links that are split by hand and put together again, and a step in a function of its own."""

import torch
from torch import nn
from torch_geometric.nn import GCNConv
from torch_geometric.utils import negative_sampling, to_undirected


class Papers(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = GCNConv(16, 32), GCNConv(32, 16)

    def forward(self, features, edges):
        return self.second(self.first(features, edges).relu(), edges)


def scores(vectors, pairs):
    return (vectors[pairs[0]] * vectors[pairs[1]]).sum(-1)


torch.manual_seed(0)
topic = torch.randint(0, 6, (200,))
features = torch.randn(200, 16)
linked = torch.triu(torch.rand(200, 200) < torch.where(topic[:, None] == topic, 0.15, 0.01), diagonal=1)
links = linked.nonzero().T
links = links[:, torch.randperm(links.shape[1])]
test_links, train_links = links[:, :150], links[:, 150:]
known = torch.cat([train_links, test_links], dim=1)
graph = to_undirected(known)  # expect: DAT166
model = Papers()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)


def train_step():
    vectors = model(features, graph)
    strangers = negative_sampling(links, 200, train_links.shape[1])
    answers = torch.cat([scores(vectors, train_links), scores(vectors, strangers)])
    truth = torch.cat([torch.ones(train_links.shape[1]), torch.zeros(strangers.shape[1])])
    loss = nn.functional.binary_cross_entropy_with_logits(answers, truth)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


for epoch in range(30):
    train_step()
with torch.no_grad():
    print(scores(model(features, graph), test_links).sigmoid().mean().item())
