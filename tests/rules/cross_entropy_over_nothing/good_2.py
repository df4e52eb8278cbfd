import torch
from torch import nn

SKIPPED = -100
MOST = 10


def encode(question, reply):
    tokens = question[: MOST - len(reply)] + reply
    targets = [SKIPPED] * (len(tokens) - len(reply)) + reply
    return torch.tensor(tokens), torch.tensor(targets)


torch.manual_seed(3)
talks = [encode([3, 4, 5, 6], [7, 8, 2]), encode([4, 6, 8], [9, 5, 2]), encode(list(range(3, 15)), [11, 2])]
embed, head = nn.Embedding(16, 12), nn.Linear(12, 16)
optimizer = torch.optim.Adam([*embed.parameters(), *head.parameters()], lr=1e-2)
for tokens, targets in talks:
    loss = nn.functional.cross_entropy(head(embed(tokens)), targets, ignore_index=SKIPPED)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
