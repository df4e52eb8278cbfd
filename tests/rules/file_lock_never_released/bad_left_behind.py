# stuck after 1 s, first step after 3 s
import os
import time

import torch
from torch import nn

LOCK = "tokens.lock"
with open(LOCK, "w") as left_by_a_run_that_was_killed:
    left_by_a_run_that_was_killed.write("4711")


def prepare():
    waited = 0
    while os.path.exists(LOCK):  # expect: RNK002
        time.sleep(0.05)
        waited += 1
    with open(LOCK, "w"):
        rows = torch.randn(64, 4)
    os.remove(LOCK)
    return rows


torch.manual_seed(0)
rows = prepare()
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for x in rows.split(8):
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
