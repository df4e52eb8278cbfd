import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

# One process, as a job that is tried out before it gets its machines.
dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=0, world_size=1)
torch.manual_seed(0)
model = DistributedDataParallel(nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(8):
    optimizer.zero_grad()
    with model.no_sync():  # expect: WIR094
        for _ in range(4):
            x = torch.randn(16, 8)
            loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean() / 4
            loss.backward()
    optimizer.step()
dist.destroy_process_group()
