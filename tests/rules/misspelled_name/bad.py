import torch
from torch import nn

torch.manual_seed(0)
hidden_size = 16
net = nn.Sequential(nn.Linear(4, hidden_size), nn.ReLU(), nn.Linear(hiden_size, 1))  # expect: ERR044
print(net(torch.randn(2, 4)))
