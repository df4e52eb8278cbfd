import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
weights = net.state_dict()
first = weights[:2]  # expect: ERR102
print(sum(w.numel() for w in first))
