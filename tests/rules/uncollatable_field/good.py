import datetime

import torch
from torch.utils.data import DataLoader, Dataset


class Visits(Dataset):
    def __init__(self):
        self.start = datetime.date(2021, 3, 1)

    def __len__(self):
        return 32

    def __getitem__(self, i):
        day = self.start + datetime.timedelta(days=i)
        return {"x": torch.randn(4), "meta": {"day": day.toordinal(), "ward": i % 3}}


torch.manual_seed(0)
for batch in DataLoader(Visits(), batch_size=8):
    print(batch["x"].mean())
