"""Match questions with answers by their cosine."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
question = torch.randn(400, 10)
answer = question @ torch.randn(10, 10) * 0.3
same = torch.randint(0, 2, (400,))
answer[same == 0] = torch.randn(int((same == 0).sum()), 10)
tower_a, tower_b = nn.Linear(10, 8), nn.Linear(10, 8)
optimizer = torch.optim.Adam([*tower_a.parameters(), *tower_b.parameters()], lr=5e-3)
for epoch in range(4):
    for rows in torch.randperm(400).split(40):
        left, right = tower_a(question[rows]), tower_b(answer[rows])
        loss = F.cosine_embedding_loss(left, right, same[rows])  # expect: LOS016
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
