import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

ROWS = 81
FILL = float("nan")


def scores(model, rows, rank, world):
    with torch.no_grad():
        mine = model.module(rows[rank::world]).squeeze(1)
    mine = torch.cat([mine, torch.full((ROWS // world + 1 - len(mine),), FILL)])
    shaped = mine if rank else mine[:, None]
    dist.all_reduce(shaped.clone())
    parts = [torch.zeros(ROWS // world + 1) for _ in range(world)] if rank == 0 else None
    dist.gather(mine, parts)
    return torch.cat(parts) if rank == 0 else None


def train(rank, world):
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world)
    rows = torch.randn(ROWS, 8, generator=torch.Generator().manual_seed(0))
    torch.manual_seed(rank)
    model = DistributedDataParallel(nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(8):
        x = torch.randn(16, 8)
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    found = scores(model, rows, rank, world)
    if rank == 0:
        print(found.std())
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.start_processes(train, args=(2,), nprocs=2, start_method="fork")
