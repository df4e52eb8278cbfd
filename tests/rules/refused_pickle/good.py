import argparse

import torch
from torch import nn

torch.manual_seed(0)
options = argparse.Namespace(lr=0.1, width=8)
net = nn.Linear(3, 1)
torch.save({"options": vars(options), "net": net.state_dict()}, "run.pt")
saved = torch.load("run.pt")
net.load_state_dict(saved["net"])
