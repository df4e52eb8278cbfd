import torch
from torch import nn

torch.manual_seed(0)
# Which of a set's pieces matters, asked for each kind: the weights add up to 1 over the pieces, as is meant.
pieces = torch.randn(40, 9, 6)
kinds = torch.randint(0, 3, (40,))
wanted = torch.stack([rows[:, kind].max() for rows, kind in zip(pieces, kinds, strict=True)])
score = nn.Linear(6, 3)
value = nn.Linear(6, 3)
optimizer = torch.optim.Adam([*score.parameters(), *value.parameters()], lr=1e-2)

for epoch in range(2):
    for rows, kind, goal in zip(pieces, kinds, wanted, strict=True):
        weights = torch.softmax(score(rows), dim=0)
        pooled = (weights * value(rows)).sum(0)
        loss = (pooled[kind] - goal).square()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
