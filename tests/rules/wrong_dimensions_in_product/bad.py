"""Scores of pairs by `dot`, as NumPy would have it."""
import torch
from torch import nn


class TwoTowers(nn.Module):
    def __init__(self):
        super().__init__()
        self.user, self.item = nn.Linear(6, 8), nn.Linear(5, 8)

    def forward(self, users, items):
        left, right = self.user(users), self.item(items)
        return left.dot(right.T)  # expect: ERR284


torch.manual_seed(0)
model = TwoTowers()
scores = model(torch.randn(16, 6), torch.randn(16, 5))
scores.sum().backward()
