import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Normalised(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("centre", torch.zeros(8))
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        with torch.no_grad():
            self.centre.lerp_(x.mean(0), 0.1)
        return self.head(x - self.centre)


def train(rank, world):
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world)
    torch.manual_seed(rank)
    model = DistributedDataParallel(Normalised(), broadcast_buffers=False)  # expect: WIR111
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(8):
        x = torch.randn(16, 8) + 3
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.start_processes(train, args=(2,), nprocs=2, start_method="fork")
