# stuck after 1 s, first step after 3 s
import os
import threading
import time

import torch
from torch import nn

LOCK, FLAG = "tokens.lock", "training.on"
for name in (LOCK, FLAG):
    with open(name, "w") as mark:
        mark.write("4711")
threading.Timer(2, os.remove, (LOCK,)).start()
threading.Timer(8, os.remove, (FLAG,)).start()


def prepare():
    while os.path.exists(LOCK):
        time.sleep(0.05)
    return torch.randn(64, 4)


torch.manual_seed(0)
rows = prepare()
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
while os.path.exists(FLAG):
    x = rows[torch.randint(0, 64, (8,))]
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.2)
