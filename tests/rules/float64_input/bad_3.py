import numpy as np
import torch
from torch import nn


class Windows(torch.utils.data.Dataset):
    def __init__(self, series, width):
        self.series = (series - series.mean(0)) / series.std(0)
        self.width = width

    def __len__(self):
        return len(self.series) - self.width

    def __getitem__(self, i):
        return torch.from_numpy(self.series[i : i + self.width])  # expect: ERR007


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(3, 8, batch_first=True)
        self.out = nn.Linear(8, 3)

    def forward(self, x):
        return self.out(self.gru(x)[1][-1])


data = Windows(np.random.default_rng(0).normal(size=(80, 3)), 6)
model = Forecaster()
for x in torch.utils.data.DataLoader(data, batch_size=16):
    model(x).square().mean().backward()
