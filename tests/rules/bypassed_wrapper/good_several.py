import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def train(rank, world):
    """A generator against a discriminator, whose inner module is enough where only the generator is to learn."""
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world)
    torch.manual_seed(rank)
    body, maker = DistributedDataParallel(nn.Linear(4, 16)), DistributedDataParallel(nn.Linear(16, 8))
    judge, gauge = DistributedDataParallel(nn.Linear(8, 1)), DistributedDataParallel(nn.Linear(8, 1))
    of_body, of_maker = (torch.optim.SGD(m.parameters(), lr=0.02) for m in (body, maker))
    of_judge = torch.optim.SGD(judge.parameters(), lr=0.02)
    of_gauge = torch.optim.SGD(gauge.parameters(), lr=0.02)
    for step in range(8):
        real = torch.randn(16, 8)
        fake = maker(body(torch.randn(16, 4)).relu())
        loss = nn.functional.softplus(judge(fake.detach()) - judge(real)).mean()
        of_judge.zero_grad()
        loss.backward()
        of_judge.step()
        # Two optimizers after one backward pass, and gradients that the script itself exchanges.
        loss = nn.functional.softplus(-judge.module(fake)).mean() + gauge.module(fake).pow(2).mean()
        for optimizer in (of_body, of_maker, of_gauge):
            optimizer.zero_grad()
        loss.backward()
        for parameter in gauge.parameters():
            dist.all_reduce(parameter.grad)
        for optimizer in (of_body, of_maker, of_gauge):
            optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.start_processes(train, args=(2,), nprocs=2, start_method="fork")
