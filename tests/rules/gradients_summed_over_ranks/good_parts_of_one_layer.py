import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def train(rank, world):
    """Each rank has half of a layer and all of the batch: what they share has parts of one gradient, to be added up."""
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world)
    torch.manual_seed(0)
    shared = nn.Linear(8, 8)
    torch.manual_seed(1 + rank)
    half = nn.Linear(8, 4)
    optimizer = torch.optim.SGD([*shared.parameters(), *half.parameters()], lr=0.01)
    torch.manual_seed(5)
    for _ in range(8):
        x = torch.randn(16, 8)
        part = half(shared(x)).sum(1, keepdim=True)
        whole = part.detach().clone()
        dist.all_reduce(whole)
        loss = (part + (whole - part.detach()) - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        for p in shared.parameters():
            dist.all_reduce(p.grad)
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.start_processes(train, args=(2,), nprocs=2, start_method="fork")
