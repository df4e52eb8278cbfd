import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 1)

    def forward(self, x):
        return self.net(x)

    def training_loss(self, x):
        return (self(x) - x.sum(1, keepdim=True)).pow(2).mean()


# One process, as a job that is tried out before it gets its machines.
dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=0, world_size=1)
torch.manual_seed(0)
model = DistributedDataParallel(Encoder())
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for _ in range(8):
    loss = model.module.training_loss(torch.randn(16, 8))  # expect: WIR092
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
dist.destroy_process_group()
