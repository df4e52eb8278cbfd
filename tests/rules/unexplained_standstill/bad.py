# stuck after 1 s
import os

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
reading, writing = os.pipe()


def next_batch(step):
    if step > 5:
        os.read(reading, 1)  # expect: RNK004
    return torch.randn(8, 4)


for step in range(10):
    loss = model(next_batch(step)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
