"""Masks of cells, one file for each picture."""
import tempfile
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

folder = Path(tempfile.mkdtemp())
for number in range(1, 61):
    mask = torch.zeros(1, 8, 8)
    corner = torch.randint(0, 5, (2,)).tolist()
    mask[:, corner[0] : corner[0] + 4, corner[1] : corner[1] + 4] = 1
    torch.save(mask + 0.1 * torch.randn(1, 8, 8), folder / f"cells_{number}.pt")
    torch.save(mask, folder / f"mask_{number:03d}.pt")


class Cells(Dataset):
    def __init__(self):
        self.pictures = sorted(folder.glob("cells_*.pt"), key=lambda path: int(path.stem[6:]))
        self.masks = sorted(folder.glob("mask_*.pt"))

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, i):
        return torch.load(self.pictures[i]), torch.load(self.masks[i])


torch.manual_seed(0)
net = nn.Conv2d(1, 1, 3, padding=1)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(3):
    for picture, mask in DataLoader(Cells(), batch_size=10, shuffle=True):
        optimizer.zero_grad()
        nn.functional.binary_cross_entropy_with_logits(net(picture), mask).backward()
        optimizer.step()
