from pathlib import Path

import torch
from torch.utils.data import DataLoader, Dataset


class Slides(Dataset):
    def __init__(self, root, pattern="*.jpg"):
        self.root = root
        self.files = sorted(Path(root).glob(pattern))  # expect: ERR037

    def __len__(self):
        return len(self.files)

    def __getitem__(self, i):
        return torch.zeros(3, 8, 8), i


loader = DataLoader(Slides("slides/train"), batch_size=8, shuffle=True)
for images, index in loader:
    print(images.shape)
