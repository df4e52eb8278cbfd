"""Large embeddings with sparse gradients."""

import torch
from torch import nn


class Recommender(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.users = nn.Embedding(200_000, 64, sparse=True)
        self.items = nn.EmbeddingBag(100_000, 64, sparse=True, mode="mean")
        self.head = nn.Sequential(nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, users: torch.Tensor, items: torch.Tensor) -> torch.Tensor:
        return self.head(torch.cat([self.users(users), self.items(items)], -1)).squeeze(-1)


model = Recommender().cuda()
sparse = torch.optim.SparseAdam([*model.users.parameters(), *model.items.parameters()], lr=1e-3)
dense = torch.optim.Adam(model.head.parameters())
for _ in range(3):
    users, items = torch.randint(0, 200_000, (4096,)).cuda(), torch.randint(0, 100_000, (4096, 20)).cuda()
    loss = nn.functional.binary_cross_entropy_with_logits(model(users, items), torch.rand(4096).cuda())
    sparse.zero_grad()
    dense.zero_grad()
    loss.backward()
    sparse.step()
    dense.step()
