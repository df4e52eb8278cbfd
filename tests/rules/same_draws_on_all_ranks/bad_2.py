import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.mean = nn.Linear(8, 4)
        self.spread = nn.Linear(8, 4)
        self.decode = nn.Linear(4, 8)

    def forward(self, x):
        noise = torch.randn(len(x), 4)
        return self.decode(self.mean(x) + noise * torch.sigmoid(self.spread(x)))


def seed_all(seed):
    torch.manual_seed(seed)


def train(rank, world):
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world)
    seed_all(42)  # expect: WIR112
    dataset = TensorDataset(torch.randn(256, 8))
    loader = DataLoader(dataset, batch_size=16, sampler=DistributedSampler(dataset))
    model = DistributedDataParallel(Encoder())
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for (x,) in loader:
        loss = (model(x) - x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.start_processes(train, args=(2,), nprocs=2, start_method="fork")
