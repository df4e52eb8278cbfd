import torch
from torch import nn


def make_data(rows):
    x = torch.randn(rows, 4)
    y = x.sum(1, keepdim=True)
    print("made", x.shape, y.shape)  # expect: ERR048


torch.manual_seed(0)
x, y = make_data(32)
net = nn.Linear(4, 1)
print(nn.functional.mse_loss(net(x), y))
