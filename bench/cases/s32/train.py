import torch
import torch.nn as nn
import torch.nn.functional as F


class Item2Vec(nn.Module):
    """skip-gram with negative sampling; tables are kept in half size to fit large catalogues"""

    def __init__(self, n_items, dim=16):
        super().__init__()
        self.center = nn.Embedding(n_items, dim, dtype=torch.bfloat16)
        self.context = nn.Embedding(n_items, dim, dtype=torch.bfloat16)
        nn.init.normal_(self.center.weight)
        nn.init.normal_(self.context.weight)

    def forward(self, a, b):
        return (self.center(a) * self.context(b)).sum(-1).float()


def baskets(n, n_items, groups=10):
    g = torch.randint(0, groups, (n,))
    size = n_items // groups
    a = g * size + torch.randint(0, size, (n,))
    b = g * size + torch.randint(0, size, (n,))
    return a, b


def recall_of_group(model, n_items, groups=10, k=10):
    with torch.no_grad():
        scores = model.center.weight.float() @ model.context.weight.float().T
    group = torch.arange(n_items) // (n_items // groups)
    top = scores.topk(k, dim=1).indices
    return (group[top] == group[:, None]).float().mean().item()


torch.manual_seed(0)
N = 200
model = Item2Vec(N)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(1501):
    a, pos = baskets(512, N)
    neg = torch.randint(0, N, (512,))
    logits = torch.cat([model(a, pos), model(a, neg)])
    labels = torch.cat([torch.ones(512), torch.zeros(512)])
    loss = F.binary_cross_entropy_with_logits(logits, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 300 == 0:
        print(f"step {step:4d} loss {loss.item():.4f} same group in top 10: {recall_of_group(model, N):.3f}")
