import pandas as pd
import torch
from torch.utils.data import DataLoader, Dataset


class Houses(Dataset):
    def __init__(self):
        self.table = pd.DataFrame({"Area": [50.0, 80.0, 120.0], " price": [1.0, 2.0, 3.0], "rooms": [2, 3, 4]})

    def __len__(self):
        return len(self.table)

    def __getitem__(self, i):
        return torch.tensor(self.table["price"].iloc[i])  # expect: ERR040


if __name__ == "__main__":
    for price in DataLoader(Houses(), batch_size=3, num_workers=1):
        print(price)
