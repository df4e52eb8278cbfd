import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def train(rank, world):
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world)
    torch.manual_seed(0)
    labels = torch.randint(0, 3, (256,))
    labels[201] = 3
    data = TensorDataset(torch.randn(256, 8), labels)
    sampler = DistributedSampler(data, shuffle=False)
    model = DistributedDataParallel(nn.Linear(8, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for x, y in DataLoader(data, batch_size=16, sampler=sampler):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(train, args=(2,), nprocs=2)
