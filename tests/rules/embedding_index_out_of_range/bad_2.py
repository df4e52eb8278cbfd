from dataclasses import dataclass

import torch
from torch import nn


@dataclass
class Config:
    words: int
    width: int = 8


class Vocabulary:
    def __init__(self):
        self.ids = {"<pad>": 0}

    def add(self, *words):
        for word in words:
            self.ids.setdefault(word, len(self.ids))

    def __len__(self):
        return len(self.ids)

    def encode(self, text):
        return [self.ids[word] for word in text.split()] + [self.ids["<end>"]]


class Encoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.words = nn.Embedding(config.words, config.width)
        self.head = nn.Linear(config.width, 2)

    def forward(self, ids):
        return self.head(self.words(ids).mean(1))


torch.manual_seed(0)
texts = ["good film", "dull film", "good plot", "dull plot"]
vocabulary = Vocabulary()
for text in texts:
    vocabulary.add(*text.split())
config = Config(words=len(vocabulary))  # expect: ERR018
model = Encoder(config)
vocabulary.add("<end>")
ids = torch.tensor([vocabulary.encode(text) for text in texts])
nn.functional.cross_entropy(model(ids), torch.tensor([1, 0, 1, 0])).backward()
