"""A vocabulary that grows: the method which makes the larger table is called when the optimizer is there already."""

import torch
from torch import nn


class Reviews(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.table = nn.Embedding(words, 16)
        self.out = nn.Linear(16, 2)

    def grow(self, words):
        larger = nn.Embedding(words, 16)
        with torch.no_grad():
            larger.weight[: self.table.num_embeddings] = self.table.weight
        self.table = larger

    def forward(self, ids):
        return self.out(self.table(ids).mean(1))


torch.manual_seed(0)
texts = torch.randint(0, 60, (256, 7))
labels = (texts[:, 0] > 30).long()
model = Reviews(40)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
model.grow(60)  # expect: WIR004
for epoch in range(4):
    for rows in torch.randperm(256).split(32):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(texts[rows]), labels[rows])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
