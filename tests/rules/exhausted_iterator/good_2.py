import random

import torch
from torch import nn


def read_rows(count):
    rng = random.Random(0)
    for _ in range(count):
        x = [rng.gauss(0, 1) for _ in range(4)]
        yield x, sum(x)


def clean(rows):
    return ((x, y) for x, y in rows if abs(y) < 5)


class Stream:
    def __init__(self, count, size):
        self.count = count
        self.size = size

    def __iter__(self):
        chunk = []
        for row in clean(read_rows(self.count)):
            chunk.append(row)
            if len(chunk) == self.size:
                xs, ys = zip(*chunk, strict=True)
                yield torch.tensor(xs), torch.tensor(ys)
                chunk = []


torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
stream = Stream(80, 16)
for epoch in range(3):
    total, count = 0.0, 0
    for x, y in stream:
        loss = nn.functional.mse_loss(model(x).squeeze(-1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total, count = total + loss.item(), count + 1
    print(epoch, total / count)
