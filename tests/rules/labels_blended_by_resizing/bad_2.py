"""Leaves with three kinds of spots, turned at random in a worker."""

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Leaves(Dataset):
    def __init__(self, count):
        draw = np.random.default_rng(0)
        self.spots = (4 * draw.integers(0, 2, (count, 4, 4))).repeat(8, 1).repeat(8, 2).astype(np.uint8)
        self.leaves = (40 * self.spots + draw.integers(0, 30, self.spots.shape)).astype(np.uint8)
        self.angles = draw.uniform(5, 40, count)

    def __len__(self):
        return len(self.spots)

    def turned(self, plane, angle):
        return np.array(Image.fromarray(plane).rotate(angle, resample=Image.BILINEAR))  # expect: DAT180

    def __getitem__(self, i):
        leaf, spots = self.turned(self.leaves[i], self.angles[i]), self.turned(self.spots[i], self.angles[i])
        return {"leaf": torch.from_numpy(leaf)[None] / 255, "spots": torch.from_numpy(spots).long()}


if __name__ == "__main__":
    torch.manual_seed(0)
    loader = DataLoader(Leaves(32), batch_size=8, shuffle=True, num_workers=1)
    model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 5, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(2):
        for batch in loader:
            loss = nn.functional.cross_entropy(model(batch["leaf"]), batch["spots"])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f}")
