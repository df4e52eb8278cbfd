import os

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(20, 20)
torch.save(net.state_dict(), "net.pt.part")
os.replace("net.pt.part", "net.pt")
net.load_state_dict(torch.load("net.pt"))
