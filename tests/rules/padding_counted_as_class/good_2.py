"""Targets padded with 0 that no loss counts: a next-token model with 0 for nothing else, and a mask by hand."""

import random

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

torch.manual_seed(0)
rng = random.Random(0)
texts = [torch.tensor([rng.randrange(2, 40) for _ in range(rng.choice([4, 7, 15]))]) for _ in range(128)]
classes = [(text > 20).long() for text in texts]


class Reader(nn.Module):
    def __init__(self, out):
        super().__init__()
        self.embedding = nn.Embedding(40, 16, padding_idx=0)
        self.rnn = nn.GRU(16, 32, batch_first=True)
        self.out = nn.Linear(32, out)

    def forward(self, ids):
        return self.out(self.rnn(self.embedding(ids))[0])


def language_loss(model, chosen):
    ids = pad_sequence([texts[i] for i in chosen], batch_first=True)
    return nn.functional.cross_entropy(model(ids[:, :-1]).transpose(1, 2), ids[:, 1:])


def masked_loss(model, chosen):
    ids = pad_sequence([texts[i] for i in chosen], batch_first=True)
    wanted = pad_sequence([classes[i] for i in chosen], batch_first=True)
    each = nn.functional.cross_entropy(model(ids).transpose(1, 2), wanted, reduction="none")
    return each[ids != 0].mean()


for loss_of, model in ((language_loss, Reader(40)), (masked_loss, Reader(2))):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(6):
        for chosen in torch.randperm(128).split(32):
            loss = loss_of(model, chosen.tolist())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"{loss_of.__name__} {loss.item():.3f}")
