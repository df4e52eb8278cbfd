import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
x = torch.randn(8, 4)
loss = F.cross_entropy(net(x), torch.zeros(8, dtype=torch.long))  # expect: ERR044
loss.backward()
