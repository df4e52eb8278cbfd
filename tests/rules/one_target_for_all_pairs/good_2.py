import torch
from torch import nn

# A queue of old keys: the partner comes first in every row, and class 0 is right for all of them.
torch.manual_seed(0)
x = torch.randn(600, 12)
query, key = nn.Linear(12, 8), nn.Linear(12, 8).requires_grad_(False)
queue = nn.functional.normalize(torch.randn(49, 8), dim=1)
optimizer = torch.optim.Adam(query.parameters(), lr=1e-2)
for epoch in range(5):
    for rows in torch.randperm(600).split(50):
        asked = nn.functional.normalize(query(x[rows]), dim=1)
        kept = nn.functional.normalize(key(x[rows] + 0.1 * torch.randn(50, 12)), dim=1)
        scores = torch.cat([(asked * kept).sum(1, keepdim=True), asked @ queue.T], 1) / 0.2
        loss = nn.functional.cross_entropy(scores, torch.zeros(50, dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        queue = kept[:49]
    print(f"epoch {epoch} loss {loss.item():.3f}")
