import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Plates(Dataset):
    def __init__(self):
        self.images = torch.rand(32, 16, generator=torch.Generator().manual_seed(0))

    def __len__(self):
        return len(self.images)

    def __getitem__(self, k):
        target = (int(self.images[k].mean() > 0.5), f"plate-{k}")  # expect: ERR024
        return self.images[k], target


class Engine:
    def __init__(self, model):
        self.model = model

    def step(self, images, targets):
        return nn.functional.cross_entropy(self.model(images), targets)

    def fit(self, loader):
        return [self.step(images, targets) for images, targets in loader]


torch.manual_seed(0)
Engine(nn.Linear(16, 2)).fit(DataLoader(Plates(), batch_size=8))
