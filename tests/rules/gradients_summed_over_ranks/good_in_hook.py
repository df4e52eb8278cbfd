import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as power
from torch.nn.functional import mse_loss
from torch.nn.parallel import DistributedDataParallel


def in_half_precision(group, bucket):
    small = (bucket.buffer() / dist.get_world_size()).to(torch.bfloat16)
    sent = dist.all_reduce(small, group=group, async_op=True).get_future()
    return sent.then(lambda done: bucket.buffer().copy_(done.value()[0]))


def added(group, bucket):
    sent = dist.all_reduce(bucket.buffer(), async_op=True).get_future()
    return sent.then(lambda done: done.value()[0])


def train(rank, world, kind):
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store-{kind}", rank=rank, world_size=world)
    torch.manual_seed(0)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1)))
    state = power.PowerSGDState(None, matrix_approximation_rank=2, start_powerSGD_iter=3)
    hooks = {
        "own": (dist.group.WORLD, in_half_precision),
        "added": (None, added),
        "fp16": (None, default_hooks.fp16_compress_hook),
        "power": (state, power.powerSGD_hook),
    }
    model.register_comm_hook(*hooks[kind])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    torch.manual_seed(1 + rank)
    for _ in range(8):
        x = torch.randn(16, 8)
        loss = mse_loss(model(x), x.sum(1, keepdim=True))
        optimizer.zero_grad()
        (loss / world if kind == "added" else loss).backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    for kind in ("own", "added", "fp16", "power"):
        mp.start_processes(train, args=(2, kind), nprocs=2, start_method="fork")
