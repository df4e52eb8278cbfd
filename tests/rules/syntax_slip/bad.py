import torch
from torch import nn

net = nn.Sequential(
    nn.Linear(4, 8)  # expect: ERR050
    nn.ReLU(),  # the comma above is missing
    nn.Linear(8, 1),
)
print(net(torch.randn(2, 4)))
