import torch
from torch import nn

import torchmedic

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 2))
nn.init.zeros_(net[3].bias)
torch.save(net.state_dict(), "last.pt")

torchmedic.check_data("last.pt")
