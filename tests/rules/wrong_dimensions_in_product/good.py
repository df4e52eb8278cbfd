"""The same scores by `@`, and row by row."""
import torch
from torch import nn

torch.manual_seed(0)
user, item = nn.Linear(6, 8), nn.Linear(5, 8)
optimizer = torch.optim.Adam([*user.parameters(), *item.parameters()], lr=1e-2)
users, items = torch.randn(64, 6), torch.randn(64, 5)
wanted = users[:, 0] * items[:, 0]
for step in range(40):
    left, right = user(users), item(items)
    loss = ((left * right).sum(-1) - wanted).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print((left @ right.T).shape)
