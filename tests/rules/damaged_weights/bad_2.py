import torch
from torch import nn

import torchmedic

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 2))
with torch.no_grad():
    net[4].weight[1] = float("inf")
    net[2].weight.zero_()
torch.save(net.state_dict(), "last.pt")

torchmedic.check_data("last.pt")  # expect: DAT135
