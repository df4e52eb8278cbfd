import os

import torch
from torch.utils.data import DataLoader, Dataset


class Clips(Dataset):
    """Stands for a decoder in native code that takes its process down on one file."""

    def __len__(self):
        return 32

    def __getitem__(self, i):
        clip = torch.full((8,), float(i))
        if i == 21:
            os.abort()  # expect: ERR034
        return clip


if __name__ == "__main__":
    for batch in DataLoader(Clips(), batch_size=4, num_workers=2):
        print(batch.mean().item())
