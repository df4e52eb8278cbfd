import sys

import torch
from torch import nn

sys.path.insert(0, "site-packages")
import gpu

torch.manual_seed(0)
model = nn.Linear(8, 1)
gpu.init()  # expect: ENV016
loss = model(torch.randn(4, 8)).mean()
loss.backward()
