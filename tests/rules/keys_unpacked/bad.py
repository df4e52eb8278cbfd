import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Sums(Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, i):
        x = torch.randn(8, generator=torch.Generator().manual_seed(i))
        return {"x": x, "y": x.sum()}


def train_step(net, batch):
    x, y = batch  # expect: ERR101
    return nn.functional.mse_loss(net(x).squeeze(1), y)


torch.manual_seed(0)
net = nn.Linear(8, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for batch in DataLoader(Sums(), batch_size=16):
    loss = train_step(net, batch)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
