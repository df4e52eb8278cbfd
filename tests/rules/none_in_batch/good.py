import torch
from torch.utils.data import DataLoader, Dataset, default_collate


class Scans(Dataset):
    def __init__(self):
        g = torch.Generator().manual_seed(0)
        self.raw = torch.randn(40, 6, generator=g)
        self.raw[17] = float("nan")

    def __len__(self):
        return len(self.raw)

    def __getitem__(self, i):
        scan = self.raw[i]
        if scan.isnan().any():
            return None
        return scan - scan.mean()


def skip_none(samples):
    return default_collate([s for s in samples if s is not None])


total = 0.0
for batch in DataLoader(Scans(), batch_size=10, collate_fn=skip_none):
    total += batch.sum().item()
print(total)
