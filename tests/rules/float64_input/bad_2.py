import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Signals(Dataset):
    def __init__(self, n=64):
        rng = np.random.default_rng(1)
        self.waves = rng.normal(size=(n, 1, 40))
        self.kinds = rng.integers(0, 3, size=n)

    def __len__(self):
        return len(self.waves)

    def __getitem__(self, i):
        wave = torch.tensor(self.waves[i])  # expect: ERR007
        return wave, int(self.kinds[i])


def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for wave, kind in loader:
        loss = nn.functional.cross_entropy(model(wave), kind)
        loss.backward()
        optimizer.step()


torch.manual_seed(0)
net = nn.Sequential(nn.Conv1d(1, 4, 5), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 3))
train(net, DataLoader(Signals(), batch_size=8))
