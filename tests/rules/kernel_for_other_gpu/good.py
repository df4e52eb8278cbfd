import torch
from torch import nn

torch.manual_seed(0)
device = "cuda" if torch.cuda.is_available() else "cpu"
print(nn.Linear(4, 2).to(device)(torch.randn(8, 4, device=device)).shape)
