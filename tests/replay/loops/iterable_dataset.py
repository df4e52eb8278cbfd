from torch.utils.data import DataLoader, IterableDataset
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 1))
x = torch.randn(240, 4)
y = torch.rand(240, 1)
weight = torch.ones(240)
weight[130:135] = 0.0


def loss_of(out, target, w):
    return ((out - target) ** 2 / w[:, None]).mean()  # origin




class Stream(IterableDataset):
    def __iter__(self):
        for i in range(240):
            yield x[i], y[i], weight[i]


opt = torch.optim.RMSprop(net.parameters(), lr=1e-2)
for xb, yb, wb in DataLoader(Stream(), batch_size=20):
    loss = loss_of(net(xb), yb, wb)
    opt.zero_grad()
    loss.backward()
    opt.step()
