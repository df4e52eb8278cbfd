import torch
from torch import nn

MOST = 8


def encode(prompt, answer):
    tokens = (prompt + answer)[-MOST:]
    labels = ([-100] * len(prompt) + answer)[-MOST:]
    return torch.tensor(tokens), torch.tensor(labels)


torch.manual_seed(13)
dialogs = [encode([3, 4, 5], [6, 7, 8, 9, 2]), encode([3, 4, 5, 6, 7, 8, 9, 10], [11, 2])]
embed, head = nn.Embedding(12, 16), nn.Linear(16, 12)
optimizer = torch.optim.SGD([*embed.parameters(), *head.parameters()], lr=0.1)
for tokens, labels in dialogs:
    loss = nn.functional.cross_entropy(head(embed(tokens)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
