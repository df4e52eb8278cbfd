# stuck after 1 s
import queue
import threading
import time

import torch
from torch import nn

torch.manual_seed(0)
batches = queue.Queue(maxsize=2)
done = threading.Event()


def produce():
    for i in range(6):
        if i == 5:
            time.sleep(0.5)
        batches.put(torch.randn(8, 4))
    done.wait()


threading.Thread(target=produce, daemon=True, name="producer").start()
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(6):
    x = batches.get()
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
done.set()
