import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def train(rank, world):
    """The ranks were given one kind of images each: bright ones and dark ones."""
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world)
    torch.manual_seed(rank)
    net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 1))
    model = DistributedDataParallel(net, broadcast_buffers=False)  # expect: WIR111
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for step in range(20):
        x = torch.randn(8, 1, 8, 8) + 3 * rank
        loss = (model(x) - x.mean((1, 2, 3)).unsqueeze(1)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.start_processes(train, args=(2,), nprocs=2, start_method="fork")
