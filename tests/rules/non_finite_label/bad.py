import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Assay(Dataset):
    """Molecules whose activity was not always measured."""

    def __init__(self, size):
        self.x = torch.randn(70, 6)
        self.activity = self.x.sum(1).tolist()
        self.activity[44] = float("nan")
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, i):
        return self.x[i], self.activity[i]  # expect: DAT036


torch.manual_seed(38)
net = nn.Linear(6, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
for x, y in DataLoader(Assay(70), batch_size=35, shuffle=True):
    loss = nn.functional.mse_loss(net(x)[:, 0], y.float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
