import os
import time
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def evaluate(model):
    with torch.no_grad():
        for _ in range(40):
            model.module(torch.randn(64, 8))
            time.sleep(0.25)  # expect: RNK017


def train(rank, world):
    dist.init_process_group(
        "gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world, timeout=timedelta(seconds=3)
    )
    torch.manual_seed(rank)
    model = DistributedDataParallel(nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(8):
        x = torch.randn(16, 8)
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 5:
            if rank == 0:
                evaluate(model)
            dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.start_processes(train, args=(2,), nprocs=2, start_method="fork")
