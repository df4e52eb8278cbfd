import torch
from torch.utils.data import DataLoader, Dataset


class Volumes(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.full((64, 64, 64), float(index))


if __name__ == "__main__":
    for batch in DataLoader(Volumes(), batch_size=2, num_workers=1):
        print(batch.mean())
