"""Hooks and a function with a backward of its own, counted: nothing but the script's own backward may run them."""
import sys

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
text = torch.randint(0, 50, (64, 21))
calls = {"hook": 0, "function": 0}


class Same(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        calls["function"] += 1
        return gradient


class WordModel(nn.Module):
    def __init__(self, own):
        super().__init__()
        self.own = own
        self.embed = nn.Embedding(50, 24)
        self.rnn = nn.GRU(24, 32, batch_first=True)
        self.out = nn.Linear(32, 50)

    def forward(self, ids):
        states = self.rnn(self.embed(ids))[0]
        if self.own:
            states = Same.apply(states)
        else:
            states.register_hook(lambda gradient: calls.update(hook=calls["hook"] + 1))
        return self.out(states)


for own in (True, False):
    model = WordModel(own)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(5):
        for chunk in text.split(16):
            loss = F.cross_entropy(model(chunk[:, :-1]).transpose(1, 2), chunk[:, 1:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
print(f"loss {loss.item():.3f}")
sys.exit(calls != {"hook": 20, "function": 20})
