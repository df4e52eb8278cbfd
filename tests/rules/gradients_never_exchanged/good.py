import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn


def train(rank, world):
    """Local steps, with weights averaged now and then, in one piece."""
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    torch.manual_seed(1 + rank)
    for step in range(12):
        x = torch.randn(16, 8)
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 9:
            with torch.no_grad():
                weights = nn.utils.parameters_to_vector(model.parameters())
                dist.all_reduce(weights)
                nn.utils.vector_to_parameters(weights / world, model.parameters())
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.start_processes(train, args=(2,), nprocs=2, start_method="fork")
