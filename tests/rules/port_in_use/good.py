"""A training that takes the next port when one is taken."""
import os
import socket

import torch
import torch.distributed as dist
from torch import nn


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


torch.manual_seed(0)
earlier = socket.create_server(("127.0.0.1", 0))
try:
    socket.create_server(earlier.getsockname()).close()
except OSError as error:
    print(type(error).__name__)
os.environ["MASTER_ADDR"] = "127.0.0.1"
os.environ["MASTER_PORT"] = str(free_port())
dist.init_process_group("gloo", rank=0, world_size=1)
model = nn.parallel.DistributedDataParallel(nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(64, 4)
y = x.sum(1, keepdim=True)
for step in range(20):
    loss = (model(x) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
