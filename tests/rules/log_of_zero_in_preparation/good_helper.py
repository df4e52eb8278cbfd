"""Boxes are cut off at the edge of a picture, and their size is kept above a floor before the logarithm."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIDE = 20


def offsets(boxes, anchor=8.0, variance=(0.1, 0.2)):
    centre = (boxes[:, :2] + boxes[:, 2:]) / (2 * SIDE * variance[0])
    size = (boxes[:, 2:] - boxes[:, :2]).clamp_min(1.0) / anchor
    size = torch.log(size) / variance[1]
    return torch.cat([centre, size], 1)


def target_of(boxes):
    return offsets(boxes).flatten(), len(boxes)


class Crops(Dataset):
    def __init__(self, count=240):
        self.draw = np.random.default_rng(0)
        corner = self.draw.integers(0, 24, (count, 2, 2))
        self.boxes = np.concatenate([corner, corner + self.draw.integers(4, 12, (count, 2, 2))], 2)
        self.pictures = self.draw.normal(0, 1, (count, 40)).astype(np.float32)

    def __len__(self):
        return len(self.boxes)

    def __getitem__(self, number):
        kept = self.boxes[number].clip(0, SIDE)
        target, count = target_of(torch.from_numpy(kept).float())
        return torch.from_numpy(self.pictures[number]), target, count


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(40, 32), nn.ReLU(), nn.Linear(32, 8))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(3):
    for picture, target, _ in DataLoader(Crops(), batch_size=24, shuffle=True):
        loss = nn.functional.smooth_l1_loss(model(picture), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
