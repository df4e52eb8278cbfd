# stuck after 1 s, first step after 4 s
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

NODES, PER_NODE = 2, 2


def train(rank):
    store, world = f"file://{os.getcwd()}/store", NODES * PER_NODE
    dist.init_process_group("gloo", store, rank=rank, world_size=world)  # expect: RNK025
    torch.manual_seed(rank)
    model = DistributedDataParallel(nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(8):
        loss = model(torch.randn(4, 8)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.start_processes(train, nprocs=PER_NODE, start_method="fork")
