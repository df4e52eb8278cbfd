import multiprocessing as mp
import subprocess
import sys

import torch

_WRITES = "import sys; sys.stdout.write('x' * 1_000_000)"


def simulate(out):
    out.put(b"x" * 1_000_000)


def gather():
    out = mp.Queue()
    job = mp.Process(target=simulate, args=(out,))
    job.start()
    job.join()  # here: queue
    return out.get()


def decode():
    process = subprocess.Popen([sys.executable, "-S", "-c", _WRITES], stdout=subprocess.PIPE)
    process.wait()  # here: program
    return process.stdout.read()


def train():
    weight = torch.zeros(2, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.1)
    for _ in range(10):
        optimizer.zero_grad()
        (weight - 1).pow(2).sum().backward()
        optimizer.step()


def train_fold(out):
    train()
    out.put(b"x" * 1_000_000)


def train_folds():
    out = mp.Queue()
    jobs = [mp.Process(target=train_fold, args=(out,)) for _ in range(2)]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()  # here: folds
    return [out.get() for _ in jobs]


if sys.argv[1] == "folds":
    train_folds()
else:
    train()
    gather() if sys.argv[1] == "queue" else decode()
