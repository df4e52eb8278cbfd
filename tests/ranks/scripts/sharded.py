import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


def train(rank, world):
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world)
    mesh = init_device_mesh("cpu", (world,))
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
    for layer in (model[0], model[2], model):
        fully_shard(layer, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    torch.manual_seed(1 + rank)
    losses = []
    for _ in range(8):
        x = torch.rand(16, 8)
        loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item().hex())
        if rank == 0 and "gather" in sys.argv:
            print([len(p.full_tensor()) for p in model.parameters()])  # here: gather
    if rank == 0 and "norm" in sys.argv:
        print(torch.stack([p.grad.norm() for p in model.parameters()]).norm().full_tensor())  # here: norm
    if rank == 0 and "state" in sys.argv:
        get_model_state_dict(model, options=StateDictOptions(full_state_dict=True))  # here: state
    os.write(1, f"{rank} {' '.join(losses)}\n".encode())
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.start_processes(train, args=(2,), nprocs=2, start_method="fork")
