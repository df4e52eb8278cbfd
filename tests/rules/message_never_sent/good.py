import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def exchange(mine, rank, world):
    theirs = torch.empty_like(mine)
    if rank % 2 == 0:
        dist.send(mine, dst=(rank + 1) % world)
        dist.recv(theirs, src=(rank - 1) % world)
    else:
        dist.recv(theirs, src=(rank - 1) % world)
        dist.send(mine, dst=(rank + 1) % world)
    return theirs


def train(rank, world):
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world)
    torch.manual_seed(rank)
    model = nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(8):
        loss = model(torch.randn(4, 8)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step > 4:
            loss = exchange(loss.detach(), rank, world)
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.start_processes(train, args=(2,), nprocs=2, start_method="fork")
