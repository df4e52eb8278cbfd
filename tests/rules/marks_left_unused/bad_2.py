"""Means of sentences of unequal length: the mask of the padding is made and forgotten."""

import torch
from torch import nn


class Sentences(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(30, 16, padding_idx=0), nn.Linear(16, 2)

    def forward(self, tokens):
        mask = (tokens != 0).unsqueeze(-1)  # expect: WIR160
        vectors = self.words(tokens)
        return self.head(vectors.mean(1))


torch.manual_seed(0)
tokens = torch.randint(1, 30, (256, 12))
tokens[torch.arange(12) >= torch.randint(3, 13, (256, 1))] = 0
kinds = (tokens == 5).any(1).long()
model = Sentences()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(10):
    for part in torch.randperm(256).split(32):
        loss = nn.functional.cross_entropy(model(tokens[part]), kinds[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
