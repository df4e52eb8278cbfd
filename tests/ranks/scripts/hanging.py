import fcntl
import os
import queue
import signal
import sys
import threading
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

kind, world = sys.argv[1], int(sys.argv[2])
cache_lock = threading.Lock()


def begin():
    Path(f"began-{os.getpid()}").write_text(str(time.time()))


class Rows(Dataset):
    def __init__(self, rank):
        self.rank = rank

    def __len__(self):
        return 48

    def __getitem__(self, i):  # here: worker
        if kind == "worker" and self.rank == 1 and i == 40:
            time.sleep(2)  # until what it has handed in before was taken
            begin()
            os.kill(os.getpid(), signal.SIGKILL)
        if kind == "fork" and self.rank == 1:
            with cache_lock:  # here: fork
                return torch.randn(8)
        return torch.randn(8)


def prefetch(rows, batches):
    for row in rows:
        batches.put(float(row))  # here: thread


def train(rank, world):
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world)
    torch.manual_seed(rank)
    model = DistributedDataParallel(nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    total, best = torch.zeros(4), torch.zeros(4)
    for epoch in range(2):
        if kind == "fork" and epoch == 1 and rank == 1:
            cache_lock.acquire()  # takes: fork
            begin()
        for step, x in enumerate(DataLoader(Rows(rank), batch_size=4, num_workers=kind in ("worker", "fork"))):
            loss = model(x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()  # waits: barrier fork file thread
            optimizer.step()
            if kind == "barrier" and step == 8 and rank == 2:
                begin()
                dist.barrier()  # here: barrier
            if kind == "order" and step == 8:
                begin()
                if rank == 0:
                    dist.all_reduce(total)  # waits: order
                dist.broadcast(best, src=0)  # here: order
                if rank == 1:
                    dist.all_reduce(total)
            if kind == "file" and step == 8 and rank == 1:
                begin()
                held, other = open("cache.lock", "w"), open("cache.lock", "w")  # noqa: SIM115
                fcntl.flock(held, fcntl.LOCK_EX)
                fcntl.flock(other, fcntl.LOCK_EX)  # here: file
            if kind == "thread" and step == 8 and rank == 1:
                begin()
                batches = queue.Queue()
                threading.Thread(target=prefetch, args=(["n/a"], batches), daemon=True).start()
                batches.get()
            if kind == "held" and step == 8:
                begin()
                with open("cache.lock", "w") as cache:
                    time.sleep(rank)
                    fcntl.flock(cache, fcntl.LOCK_EX)  # here: held
                    dist.barrier()  # waits: held
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.start_processes(train, args=(world,), nprocs=world, start_method="fork")
