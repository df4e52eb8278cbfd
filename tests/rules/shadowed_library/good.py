import torch
from blocks import Block

torch.manual_seed(0)
model = Block(8)
print(sum(p.numel() for p in model.parameters()))
