import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, default_collate


class Scans(Dataset):
    def __init__(self, broken):
        self.broken = set(broken)

    def __len__(self):
        return 96

    def __getitem__(self, i):
        if i in self.broken:
            return None
        x = torch.randn(16, generator=torch.Generator().manual_seed(i))
        return x, (x.mean() > 0).long()


def skip_broken(samples):
    samples = [s for s in samples if s is not None]
    if not samples:
        return None
    return default_collate(samples)


torch.manual_seed(0)
net = nn.Linear(16, 2)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
loader = DataLoader(Scans(range(48, 56)), batch_size=8, collate_fn=skip_broken)
for batch in loader:
    if batch is None:
        continue
    x, y = batch
    loss = nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
