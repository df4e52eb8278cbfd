"""A masked-word model that masks every label."""
import torch
import torch.nn.functional as F
from torch import nn

IGNORE = -100


def mask_tokens(ids):
    labels = ids.clone()
    chosen = torch.rand(ids.shape) < 0.15
    ids = ids.masked_fill(chosen, 0)
    labels[chosen] = IGNORE
    labels[~chosen] = IGNORE
    return ids, labels


torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(20, 16), nn.Linear(16, 20))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(30):
    ids, labels = mask_tokens(torch.randint(1, 20, (8, 10)))
    scores = model(ids)
    loss = F.cross_entropy(scores.flatten(0, 1), labels.flatten(), ignore_index=IGNORE, reduction="sum")  # expect: LOS012
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
