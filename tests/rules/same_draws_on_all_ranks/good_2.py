import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def train(rank, world):
    """All ranks draw the same rows and each takes its share; dropout with equal seeds is what most scripts have."""
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world)
    torch.manual_seed(0)
    rows = torch.randn(256, 8)
    net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 1))
    model = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(8):
        chosen = torch.randperm(len(rows))[rank::world][:16]
        x = rows[chosen]
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.start_processes(train, args=(2,), nprocs=2, start_method="fork")
