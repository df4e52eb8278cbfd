# stuck after 1 s
import contextlib
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class Gated(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)
        self.extra = nn.Linear(8, 8)
        self.head = nn.Linear(8, 1)

    def forward(self, x, use_extra):
        h = torch.relu(self.body(x))
        return self.head(self.extra(h) if use_extra else h)


def evaluate(model):
    """Slow, and at work: the other ranks wait meanwhile."""
    until = time.monotonic() + 3
    with torch.no_grad():
        while time.monotonic() < until:
            model.module(torch.randn(64, 8), True)


def train(rank, world):
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world)
    torch.manual_seed(0)
    rows = torch.randn(256, 8)
    dataset = TensorDataset(rows, rows.sum(1, keepdim=True))
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, batch_size=16, sampler=sampler)
    model = DistributedDataParallel(Gated(), find_unused_parameters=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for step, (x, y) in enumerate(loader):
            loss = (model(x, step % 2 == 0) - y).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            evaluate(model)
            torch.save(model.module.state_dict(), "model.pt")
        dist.barrier()
    plain = DistributedDataParallel(nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8)), broadcast_buffers=False)
    slow = torch.optim.SGD(plain.parameters(), lr=0.01)
    for step in range(8):
        is_last = step % 4 == 3
        with contextlib.nullcontext() if is_last else plain.no_sync():
            (plain(torch.randn(16, 8)).pow(2).mean() / 4).backward()
        if is_last:
            slow.step()
            slow.zero_grad()
    with Join([model]):
        for _ in range(3 + 2 * rank):
            loss = model(torch.randn(16, 8), True).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print("done", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    world = int(sys.argv[1])
    mp.start_processes(train, args=(world,), nprocs=world, start_method="fork")
