import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

kind, world = sys.argv[1], int(sys.argv[2])


def rows(rank):
    count = 24 if kind == "uneven" and rank == 1 else 40
    x = torch.randn(count, 8)
    if kind in ("skip", "swallow") and rank == 1:
        x[17] = torch.inf
    return x


def update(model, optimizer, x):
    if kind == "swallow" and not x.isfinite().all():
        raise ValueError("a bad batch")
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()  # here: uneven skip swallow
    optimizer.step()


def train_epoch(model, optimizer, loader):
    for x in loader:
        if kind == "skip" and not x.isfinite().all():
            continue
        try:
            update(model, optimizer, x)
        except ValueError:
            print("skipped")


def mean_of(score):
    if dist.is_initialized():
        dist.all_reduce(score)
    return score / world


@torch.no_grad()
def evaluate(model, x):
    for part in x.split(8):
        model(part)  # here: buffers


def recall(rank, x):
    if kind == "early" and rank == 2:
        return x.new_zeros(())
    hits = x.gt(0).float().mean()
    dist.all_reduce(hits)  # here: early
    return hits


def train(rank, world):
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world)
    torch.manual_seed(rank)
    norm = nn.BatchNorm1d(4) if kind == "buffers" else nn.Identity()
    model = DistributedDataParallel(nn.Sequential(nn.Linear(8, 4), norm, nn.Linear(4, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = DataLoader(rows(rank), batch_size=4)
    for _ in range(2):
        train_epoch(model, optimizer, loader)
        if kind == "buffers" and rank == 0:
            evaluate(model, rows(rank))
        if kind == "patience":
            if rank == 1:
                break  # here: patience
            continue
        recall(rank, rows(rank))
        mean_of(torch.zeros(1))
        dist.barrier()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.start_processes(train, args=(world,), nprocs=world, start_method="fork")
