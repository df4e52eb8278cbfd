"""Scores of padding are filled with minus infinity, and every row keeps a word."""

import torch
from torch import nn

torch.manual_seed(0)
words = torch.randn(5, 7, 8)
padding = torch.arange(7)[None] >= torch.tensor([7, 3, 1, 5, 2])[:, None]
score = nn.Linear(8, 1)
optimizer = torch.optim.SGD(score.parameters(), lr=0.1)
for step in range(4):
    scores = score(words).squeeze(-1).masked_fill(padding, float("-inf"))
    loss = (torch.softmax(scores, 1).unsqueeze(-1) * words).sum(1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
