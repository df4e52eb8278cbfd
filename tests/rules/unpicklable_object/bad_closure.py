import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


def make_transform(scale, noise=0.0):
    def transform(x):  # expect: ERR036
        x = x * scale
        if noise:
            x = x + noise * torch.randn_like(x)
        return x

    return transform


class Patches(Dataset):
    def __init__(self, count=32):
        self.x = torch.rand(count, 1, 8, 8)
        self.y = (self.x.mean((1, 2, 3)) > 0.5).long()
        self.transform = make_transform(2.0, 0.05)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.transform(self.x[i]), self.y[i]


if __name__ == "__main__":
    loader = DataLoader(Patches(), batch_size=16, num_workers=1, multiprocessing_context="spawn")
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 2))
    for x, y in loader:
        nn.functional.cross_entropy(model(x), y).backward()
