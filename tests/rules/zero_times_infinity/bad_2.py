import torch
from torch import nn
import torch.nn.functional as F


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.item = nn.Linear(8, 16), nn.Linear(8, 16)
        self.scale = nn.Parameter(torch.tensor(5.0))

    def forward(self, query, items, known):
        scores = torch.einsum("bd,bkd->bk", self.query(query), self.item(items))
        scores = scores.masked_fill(~known, float("-inf"))
        return self.scale * scores  # expect: NUM023


torch.manual_seed(0)
model = Scorer()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(10):
    query, items = torch.randn(32, 8), torch.randn(32, 6, 8)
    known = torch.arange(6) < torch.randint(1, 7, (32, 1))
    loss = F.cross_entropy(model(query, items, known), torch.zeros(32, dtype=torch.long))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
