import os

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class cv2:
    """Stands for OpenCV, as far as this script needs it."""

    @staticmethod
    def imread(path):
        return np.zeros((8, 8, 3), np.uint8) if os.path.exists(path) else None


class Pictures(Dataset):
    def __init__(self, names):
        self.names = names

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        path = os.path.join("pictures", self.names[i])
        picture = cv2.imread(path)  # expect: ERR103
        return torch.from_numpy(picture[:, :, ::-1].copy()).permute(2, 0, 1) / 255


for batch in DataLoader(Pictures(["a.png", "b.png"]), batch_size=2):
    print(batch.mean())
