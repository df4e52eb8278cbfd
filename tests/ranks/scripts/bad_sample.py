import os
import sys
from pathlib import Path

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class Houses(Dataset):
    def __init__(self, how):
        self.how = how
        generator = torch.Generator().manual_seed(7)
        self.area = torch.rand(64, generator=generator) * 200 + 20
        self.price = self.area / 100
        self.area[37] = 0.0 if how != "file" else 50.0
        if how == "prepared":
            self.area = torch.log(self.area)  # here: prepared
        if how == "file":
            self.area = torch.from_numpy(np.load("areas.npy"))  # here: file

    def __len__(self):
        return len(self.area)

    def __getitem__(self, i):
        area = self.area[i]
        if self.how == "sample":
            area = torch.log(area)  # here: sample
        return torch.stack([area, area.new_tensor(1.0)]), self.price[i]


def put_together(samples):
    inputs = torch.stack([x for x, _ in samples])
    inputs[:, 0] = 1.0 / inputs[:, 0]  # here: collate
    return inputs, torch.stack([y for _, y in samples])


def main(how):
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    data = Houses(how)
    collate = put_together if how == "collate" else None
    loader = DataLoader(data, batch_size=4, sampler=DistributedSampler(data, shuffle=False), collate_fn=collate)
    model = DistributedDataParallel(nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for x, y in loader:
        loss = (model(x).squeeze(1) - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    weights = torch.cat([p.detach().flatten() for p in model.parameters()])
    # One write: ranks that share a pipe would mix the pieces of a print.
    os.write(1, f"weights {bool(torch.isfinite(weights).all())} {weights.sum().item().hex()}\n".encode())
    dist.destroy_process_group()


if __name__ == "__main__":
    if not Path("areas.npy").exists():
        areas = np.linspace(20, 220, 64, dtype=np.float32)
        areas[37] = np.nan
        np.save("areas.npy", areas)
    main(sys.argv[1])
