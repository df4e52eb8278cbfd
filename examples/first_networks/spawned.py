"""Loader workers that are started anew, as on Windows, macOS and in notebooks, from a script without a guard."""

import torch
from torch.utils.data import DataLoader, TensorDataset

data = TensorDataset(torch.randn(64, 4), torch.randint(2, (64,)))
loader = DataLoader(data, batch_size=16, num_workers=2, multiprocessing_context="spawn")
for x, y in loader:
    print(x.mean().item(), y.float().mean().item())
