import torch
from torch import nn

reviews = ["good film", "bad film", "good acting and bad sound", "fine"]
vocabulary = {word: i + 1 for i, word in enumerate(sorted({w for r in reviews for w in r.split()}))}


class Bag(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.words = nn.Embedding(size, 8)
        self.out = nn.Linear(8, 2)

    def forward(self, ids):
        return self.out(self.words(ids).mean(1))


torch.manual_seed(0)
model = Bag(len(vocabulary))  # expect: ERR018
ids = torch.zeros(4, 5, dtype=torch.long)
for row, review in enumerate(reviews):
    for column, word in enumerate(review.split()):
        ids[row, column] = vocabulary[word]
loss = nn.functional.cross_entropy(model(ids), torch.tensor([1, 0, 0, 1]))
loss.backward()
