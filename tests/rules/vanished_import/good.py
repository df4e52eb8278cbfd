import torch
from torch.optim.lr_scheduler import CosineAnnealingLR

weight = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
scheduler = CosineAnnealingLR(optimizer, T_max=10)
weight.sum().backward()
optimizer.step()
scheduler.step()
