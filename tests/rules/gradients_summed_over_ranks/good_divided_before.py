import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.functional import mse_loss


def train(rank, world):
    """The sum is the mean where the loss, or the gradient, was divided before; or where one batch is shared."""
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    torch.manual_seed(1 + rank)
    for step in range(8):
        x = torch.randn(16, 8)
        loss = mse_loss(model(x), x.sum(1, keepdim=True))
        optimizer.zero_grad()
        (loss / world if step % 2 else loss).backward()
        for p in model.parameters():
            if step % 2 == 0:
                p.grad.div_(world)
            dist.all_reduce(p.grad)
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.start_processes(train, args=(2,), nprocs=2, start_method="fork")
