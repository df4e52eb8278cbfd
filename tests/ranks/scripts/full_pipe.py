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


weight = torch.zeros(2, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
for _ in range(10):
    optimizer.zero_grad()
    (weight - 1).pow(2).sum().backward()
    optimizer.step()
gather() if sys.argv[1] == "queue" else decode()
