import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.utils import parameters_to_vector


def train(rank, world):
    """All gradients in one tensor, under way while something else could be done."""
    dist.init_process_group("gloo", f"file://{os.getcwd()}/store", rank=rank, world_size=world)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(1 + rank)
    for _ in range(8):
        x = torch.randn(16, 8)
        loss = cross_entropy(model(x), x[:, :3].argmax(1)) + 1e-3 * model[0].weight.abs().mean()
        optimizer.zero_grad()
        loss.backward()
        gradients = [p.grad for p in model.parameters()]
        flat = parameters_to_vector(gradients)
        dist.all_reduce(flat, async_op=True).wait()  # expect: WIR250
        for gradient, part in zip(gradients, flat.split([g.numel() for g in gradients]), strict=True):
            gradient.copy_(part.view_as(gradient))
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.start_processes(train, args=(2,), nprocs=2, start_method="fork")
