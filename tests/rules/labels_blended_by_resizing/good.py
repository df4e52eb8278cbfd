"""Photographs are blended, and of the maps the nearest pixel is taken; greys of few shades are no labels."""

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

TYPES = 9


def plot(draw):
    soil = np.zeros((48, 48), dtype=np.uint8)
    for _ in range(5):
        top, left = draw.integers(0, 30, 2)
        soil[top : top + 18, left : left + 18] = draw.integers(0, TYPES)
    photo = 25 * soil[..., None] + draw.integers(0, 20, (48, 48, 3))
    return Image.fromarray(photo.astype(np.uint8)), Image.fromarray(soil)


class Plots(Dataset):
    def __init__(self, count):
        draw = np.random.default_rng(0)
        self.plots = [plot(draw) for _ in range(count)]

    def __len__(self):
        return len(self.plots)

    def __getitem__(self, i):
        photo, soil = self.plots[i]
        photo, soil = np.array(photo.resize((24, 24))), np.array(soil.resize((24, 24), Image.NEAREST))
        return torch.from_numpy(photo).permute(2, 0, 1) / 255, torch.from_numpy(soil).long()


torch.manual_seed(0)
loader = DataLoader(Plots(32), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, TYPES, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for photo, soil in loader:
        loss = nn.functional.cross_entropy(model(photo), soil)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
