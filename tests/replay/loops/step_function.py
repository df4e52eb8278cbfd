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


opt = torch.optim.SGD(net.parameters(), lr=1e-2, momentum=0.9)


def train_step(xb, yb, wb):
    opt.zero_grad()
    loss = loss_of(net(xb), yb, wb)
    loss.backward()
    opt.step()
    return loss.item()


def train():
    total = 0.0
    for i in range(0, 240, 20):
        total += train_step(x[i:i + 20], y[i:i + 20], weight[i:i + 20])
    return total


train()
