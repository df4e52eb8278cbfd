import sys

import torch
from torch import nn

sys.path.insert(0, "site-packages")
import faststats  # expect: ENV006

torch.manual_seed(0)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
loss = net(torch.randn(8, 4)).pow(2).mean()
loss.backward()
optimizer.step()
