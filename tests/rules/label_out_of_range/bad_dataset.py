"""Labels that begin at 1, made in the data set."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Letters(Dataset):
    def __init__(self, n=400):
        g = torch.Generator().manual_seed(0)
        self.images = torch.rand(n, 1, 16, 16, generator=g)
        self.labels = torch.randint(1, 11, (n,), generator=g)  # expect: ERR019

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], self.labels[i]


torch.manual_seed(0)
net = nn.Sequential(nn.Flatten(), nn.Linear(256, 64), nn.ReLU(), nn.Linear(64, 10))
opt = torch.optim.Adam(net.parameters())
for epoch in range(2):
    for x, y in DataLoader(Letters(), batch_size=40, shuffle=True):
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(loss.item())
