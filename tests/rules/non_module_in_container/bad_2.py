import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), F.relu, nn.Linear(8, 1))  # expect: ERR041
print(net(torch.randn(2, 4)))
