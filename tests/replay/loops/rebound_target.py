from torch.utils.data import DataLoader, TensorDataset
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


opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for xb, yb, wb in DataLoader(TensorDataset(x, y, weight), batch_size=20, shuffle=True):
    xb = xb * 2 - 1
    yb = yb.squeeze(1)
    loss = loss_of(net(xb), yb[:, None], wb)
    opt.zero_grad()
    loss.backward()
    opt.step()
