import torch
from torch import nn

net = nn.Linear(1024, 1024)
batch = torch.randn(64, 1024)
try:
    net(batch).sum().backward()
except torch.cuda.OutOfMemoryError:
    print("smaller batches, then")
