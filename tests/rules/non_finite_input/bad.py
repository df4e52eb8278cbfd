import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Sensor(Dataset):
    """Readings of a sensor that reports `nan` when it is switched off."""

    def __init__(self):
        self.readings = torch.randn(60, 3).tolist()
        self.readings[33][1] = float("nan")

    def __len__(self):
        return 60

    def __getitem__(self, i):
        return {"reading": torch.tensor(self.readings[i]), "fault": i % 2}  # expect: DAT030


torch.manual_seed(32)
net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=1e-3)
for batch in DataLoader(Sensor(), batch_size=20):
    loss = nn.functional.cross_entropy(net(batch["reading"]), batch["fault"])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
