"""Every rank stands still, and none of them in a collective."""

import os
import sys
import threading
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

LOCK = "tokens.lock"
GATE = threading.Lock()


class Rows(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        with GATE:  # here: loader
            return torch.randn(8)


def prepare():
    while os.path.exists(LOCK):  # here: file
        time.sleep(0.05)


def hold():
    with GATE:
        time.sleep(1000)


def train(rank, world, how):
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world)
    model = DistributedDataParallel(nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    if how == "file":
        prepare()
    if how == "loader":
        threading.Thread(target=hold, daemon=True).start()
        time.sleep(0.2)
    for x in DataLoader(Rows(), batch_size=8, num_workers=1):
        loss = model(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    with open(LOCK, "w") as left_by_a_run_that_was_killed:
        left_by_a_run_that_was_killed.write("4711")
    mp.start_processes(train, args=(2, sys.argv[1]), nprocs=2, start_method="fork")
