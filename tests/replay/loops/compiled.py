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


fast = torch.compile(net, backend="eager")
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for i in range(0, 240, 20):
    loss = loss_of(fast(x[i:i + 20]), y[i:i + 20], weight[i:i + 20])
    opt.zero_grad()
    loss.backward()
    opt.step()
