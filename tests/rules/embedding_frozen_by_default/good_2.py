"""Frozen vectors: all parameters handed over as they are, and a freezing that was written down."""
import torch
from torch import nn
import torch.nn.functional as F


class Tagger(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.words = words
        self.out = nn.Linear(16, 3)

    def forward(self, tokens):
        return self.out(self.words(tokens).mean(1))


def groups(model):
    return [{"params": model.words.parameters(), "lr": 1e-3}, {"params": model.out.parameters()}]


def train(model, optimizer, tokens, labels):
    for idx in torch.randperm(len(tokens)).split(40):
        loss = F.cross_entropy(model(tokens[idx]), labels[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


torch.manual_seed(0)
tokens = torch.randint(0, 200, (400, 5))
labels = tokens[:, 0] % 3
vectors = torch.randn(200, 16)
plain = Tagger(nn.Embedding.from_pretrained(vectors.clone()))
train(plain, torch.optim.Adam(plain.parameters(), lr=3e-3), tokens, labels)
frozen = Tagger(nn.Embedding.from_pretrained(vectors.clone(), freeze=True))
train(frozen, torch.optim.Adam(groups(frozen), lr=3e-3), tokens, labels)
