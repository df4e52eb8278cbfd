"""The class of the graphs says that nothing is to be added to one index; that of a node is shifted rightly."""

import torch
from torch import nn
from torch_geometric.data import Data
from torch_geometric.loader import DataLoader
from torch_geometric.nn import GCNConv


class Sentence(Data):
    def __inc__(self, key, value, *args):
        return 0 if key == "word_index" else super().__inc__(key, value, *args)


def sentence(n):
    order = torch.arange(n - 1)
    words = torch.randint(0, 50, (n,))
    edges = torch.stack([order, order + 1])
    return Sentence(
        edge_index=edges, word_index=words, root_index=torch.tensor([n // 2]), y=words[n // 2] % 2, num_nodes=n
    )


torch.manual_seed(0)
sentences = [sentence(n) for n in torch.randint(4, 15, (64,)).tolist()]
words, conv, head = nn.Embedding(50, 16), GCNConv(16, 16), nn.Linear(16, 2)
optimizer = torch.optim.Adam([*words.parameters(), *conv.parameters(), *head.parameters()], lr=1e-3)
for batch in DataLoader(sentences, batch_size=8):
    x = conv(words(batch.word_index), batch.edge_index).relu()
    loss = nn.functional.cross_entropy(head(x[batch.root_index]), batch.y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
