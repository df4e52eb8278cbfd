# stuck after 1 s
import threading

import torch
from torch import nn

torch.manual_seed(0)
log_lock = threading.Lock()


def write_log(text):
    with log_lock:  # expect: RNK003
        print(text)


def step_done(step, loss):
    with log_lock:
        if step == 5:
            write_log(f"step {step}: {loss}")


model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(10):
    x = torch.randn(8, 4)
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step_done(step, loss.item())
