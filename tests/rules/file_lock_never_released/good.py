# stuck after 1 s
import fcntl
import time

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
writer = open("scores.lock", "w")


def log_score(step, loss):
    with open("scores.lock", "r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with open("scores.txt", "a") as scores:
            scores.write(f"{step} {loss.item()}\n")


for step in range(20):
    x = torch.randn(8, 4)
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 8:
        fcntl.flock(writer, fcntl.LOCK_EX)
        fcntl.flock(writer, fcntl.LOCK_UN)
        time.sleep(2)
    log_score(step, loss)
