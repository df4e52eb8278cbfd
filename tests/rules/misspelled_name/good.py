import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

torch.manual_seed(0)
hidden_size = 16
net = nn.Sequential(nn.Linear(4, hidden_size), nn.ReLU(), nn.Linear(hidden_size, 2))
for x in DataLoader(torch.randn(8, 4), batch_size=4):
    F.cross_entropy(net(x), torch.zeros(4, dtype=torch.long)).backward()
