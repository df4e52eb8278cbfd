from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset


class Slides(Dataset):
    def __init__(self, root, pattern="*.jpg"):
        self.files = sorted(Path(root).glob(pattern)) or [Path("blank.jpg")] * 4

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        return torch.zeros(3, 8, 8), i


for images, index in DataLoader(Slides("slides/train"), batch_size=8, shuffle=True):
    print(images.shape)
