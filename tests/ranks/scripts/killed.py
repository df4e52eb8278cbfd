import os
import signal
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def train(rank, world, how):
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world)
    torch.manual_seed(rank)
    model = DistributedDataParallel(nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(8):
        loss = model(torch.randn(4, 8)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step == 5 and rank == world - 1:
            if how == "exit":
                os._exit(3)  # here: exit
            if how == "leave":
                sys.exit(3)  # here: leave
            os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    world = int(sys.argv[1])
    mp.start_processes(train, args=(world, sys.argv[2]), nprocs=world, start_method="fork")
