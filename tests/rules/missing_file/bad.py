import os

import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(3, 1)
os.makedirs("checkpoints", exist_ok=True)
torch.save(net.state_dict(), "checkpoints/epoch_10.pt")
net.load_state_dict(torch.load("checkpoint/epoch_10.pt"))  # expect: ERR056
