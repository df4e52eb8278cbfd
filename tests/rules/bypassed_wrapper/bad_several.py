import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(16, 1)

    def predict(self, hidden):
        return self.out(hidden)


def loss_of(body, head, x):
    answer = head.module.predict(body(x).relu())  # expect: WIR092
    return (answer - x.sum(1, keepdim=True)).pow(2).mean()


def train(rank, world):
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world)
    torch.manual_seed(rank)
    head, body = DistributedDataParallel(Head()), DistributedDataParallel(nn.Linear(8, 16))
    optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.05)
    for step in range(8):
        loss = loss_of(body, head, torch.randn(16, 8))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.start_processes(train, args=(2,), nprocs=2, start_method="fork")
