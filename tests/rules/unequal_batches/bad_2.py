# stuck after 1 s
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def train(rank, world):
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world)
    torch.manual_seed(rank)
    model = DistributedDataParallel(nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    used = 0
    for step in range(12):
        loss = model(torch.randn(4 + rank, 8)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()  # expect: RNK007
        optimizer.step()
        used += 4 + rank
        if used > 24:
            break
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.start_processes(train, args=(2,), nprocs=2, start_method="fork")
