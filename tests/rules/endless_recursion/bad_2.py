import torch
from torch.utils.data import DataLoader, Dataset


class Noisy(Dataset):
    def __init__(self, inner, spread):
        self.inner = inner
        self.spread = spread

    def __getattr__(self, name):
        return getattr(self.source, name)  # expect: ERR105

    def __len__(self):
        return len(self.inner)

    def __getitem__(self, i):
        return self.inner[i] + self.spread * torch.randn(3)


torch.manual_seed(0)
data = Noisy(torch.randn(16, 3), 0.1)
print(data.shape)
for batch in DataLoader(data, batch_size=4):
    print(batch.mean())
