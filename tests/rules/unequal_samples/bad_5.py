import tempfile
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader, Dataset

folder = Path(tempfile.mkdtemp())
for i in range(8):
    pixels = np.full((8, 8, 4 if i == 5 else 3), i, dtype=np.uint8)
    Image.fromarray(pixels).save(folder / f"{i}.png")


class Pictures(Dataset):
    def __init__(self):
        self.files = sorted(folder.glob("*.png"))

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        picture = Image.open(self.files[i])  # expect: ERR030
        return torch.from_numpy(np.array(picture)).permute(2, 0, 1).float()


for batch in DataLoader(Pictures(), batch_size=8):
    print(batch.shape)
