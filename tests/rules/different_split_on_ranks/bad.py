import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset, random_split
from torch.utils.data.distributed import DistributedSampler


def train(rank, world):
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world)
    rows = torch.arange(1600.0).reshape(200, 8).sin()
    dataset = TensorDataset(rows, rows.sum(1, keepdim=True))
    torch.manual_seed(1 + rank)
    train_set, val_set = random_split(dataset, [160, 40])  # expect: WIR113
    loader = DataLoader(train_set, batch_size=16, sampler=DistributedSampler(train_set))
    model = DistributedDataParallel(nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for x, y in loader:
        loss = (model(x) - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        x, y = next(iter(DataLoader(val_set, batch_size=40)))
        print("val", (model(x) - y).pow(2).mean().item())
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.start_processes(train, args=(2,), nprocs=2, start_method="fork")
