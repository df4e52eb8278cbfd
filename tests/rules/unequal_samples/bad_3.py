import torch
from torch.utils.data import DataLoader, Dataset


class Tracks(Dataset):
    def __len__(self):
        return 12

    def __getitem__(self, i):
        return torch.ones(3 + i % 2, 2)


def join(samples):
    return torch.stack(samples)  # expect: ERR030


for batch in DataLoader(Tracks(), batch_size=3, collate_fn=join):
    print(batch.shape)
