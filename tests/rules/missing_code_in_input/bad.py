"""Buoys report height, period and wind every hour; storms are to be told from the last day."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Buoys(Dataset):
    def __init__(self, n=1200):
        self.is_storm = torch.rand(n) < 0.5
        self.hours = torch.randn(n, 24, 3) * 0.4 + 1.0
        self.hours[:, :, 1] += self.is_storm[:, None] * torch.linspace(0, 1, 24)
        silent = torch.rand(n, 24) < 0.03
        self.hours[:, :, 1][silent] = 32767.0

    def __len__(self):
        return len(self.hours)

    def __getitem__(self, i):
        return self.hours[i], self.is_storm[i].long()


def scale_of(buoys):
    table = buoys.hours.flatten(0, 1)
    return table.mean(0), table.std(0)  # expect: DAT143


class Storms(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(3, 16, batch_first=True)
        self.out = nn.Linear(16, 2)

    def forward(self, x):
        return self.out(self.gru(x)[1][-1])


torch.manual_seed(0)
buoys = Buoys()
mean, std = scale_of(buoys)
model = Storms()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(3):
    for hours, is_storm in DataLoader(buoys, batch_size=40, shuffle=True):
        loss = nn.functional.cross_entropy(model((hours - mean) / std), is_storm)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
