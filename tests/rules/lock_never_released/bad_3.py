# stuck after 1 s
import queue
import threading

import torch
from torch import nn

torch.manual_seed(0)
batches = queue.Queue(maxsize=2)


def produce():
    for number in range(10):
        rows = torch.randn(8 if number < 6 else 7, 4)
        batches.put(rows.reshape(8, 4))  # expect: RNK003


threading.Thread(target=produce, daemon=True, name="producer").start()
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(10):
    x = batches.get()
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
