import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Rows(Dataset):
    def __init__(self, table):
        self.table = table

    def __len__(self):
        return len(self.table)

    def __getitem__(self, i):
        x = torch.tensor([self.table["a"].iloc[i], self.table["b"].iloc[i]], dtype=torch.float32)
        return x, self.table["y"].iloc[i]


torch.manual_seed(0)
table = pd.DataFrame({"a": range(100), "b": range(100), "y": [i % 2 for i in range(100)]})
kept = table[table["a"] % 5 != 0]
net = nn.Linear(2, 2)
for x, y in DataLoader(Rows(kept), batch_size=16):
    nn.functional.cross_entropy(net(x / 100), y).backward()
