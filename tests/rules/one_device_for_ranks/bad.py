import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def wrap(model, device):
    # Stands in for a machine with two GPUs, on which NCCL refuses two ranks on one of them.
    if not torch.cuda.is_available():
        raise dist.DistBackendError(
            "NCCL error in: ProcessGroupNCCL.cpp:3690, invalid usage (run with NCCL_DEBUG=WARN for details)\n"
            "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.\n"
            "Last error:\nDuplicate GPU detected : rank 1 and rank 0 both on CUDA device 1a000"
        )
    return DistributedDataParallel(model.to(device))


def train(rank, world):
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world)
    device = torch.device("cuda:0")  # expect: WIR115
    model = wrap(nn.Linear(8, 1), device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(8):
        loss = model(torch.randn(16, 8, device=device)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.start_processes(train, args=(2,), nprocs=2, start_method="fork")
