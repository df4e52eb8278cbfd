"""How far doors stand open is told from how their pictures change; the changes are worked out clip by clip."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

rng = np.random.default_rng(2)


def clip_of(width):
    still = rng.integers(60, 180, 48)
    edge = np.arange(48) < 4 * width
    shots = [still + edge * (20 * (shot % 2)) + rng.normal(0, 3, 48) for shot in range(5)]
    return np.stack(shots).clip(0, 255).astype(np.uint8)


def change(clip):
    clip = clip.astype(np.int16)
    before = clip[0]
    changes = []
    for shot in clip[1:]:
        changes.append(np.abs(shot - before).mean())
        before = shot
    return np.array(changes, dtype=np.float32)


class Doors(Dataset):
    def __init__(self, count):
        self.width = rng.integers(0, 12, count)
        self.changes = np.stack([change(clip_of(width)) for width in self.width]) / 255

    def __len__(self):
        return len(self.width)

    def __getitem__(self, i):
        return self.changes[i], np.float32(self.width[i] / 12)


torch.manual_seed(0)
doors = Doors(200)
model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(3):
    for x, y in DataLoader(doors, batch_size=20, shuffle=True):
        loss = nn.functional.mse_loss(model(x).squeeze(1), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
