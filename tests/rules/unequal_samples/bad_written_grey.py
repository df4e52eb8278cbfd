"""Some pictures are written in grey by the function that makes them: what it converts tells nothing of the reading."""

import tempfile
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset


def write_pictures(folder):
    for i in range(24):
        picture = Image.fromarray(np.full((8, 8, 3), 9 * i, dtype=np.uint8))
        if i % 10 == 7:
            picture = picture.convert("L")
        picture.save(folder / f"{i:02d}.png")


class Pictures(Dataset):
    def __init__(self, folder):
        self.files = sorted(folder.glob("*.png"))

    def __len__(self):
        return len(self.files)

    def to_tensor(self, picture):
        values = np.asarray(picture, dtype=np.float32) / 255
        values = values[:, :, None] if values.ndim == 2 else values
        return torch.from_numpy(values.transpose(2, 0, 1).copy())

    def __getitem__(self, i):
        picture = Image.open(self.files[i])  # expect: ERR030
        return self.to_tensor(picture.resize((6, 6))), i % 2


folder = Path(tempfile.mkdtemp())
write_pictures(folder)
for pictures, _labels in DataLoader(Pictures(folder), batch_size=12):
    print(pictures.shape)
