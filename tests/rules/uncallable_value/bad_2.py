import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(6, 2)
x = torch.randn(10, 6)
rows = x.shape(0)  # expect: ERR047
print(net(x).sum() / rows)
