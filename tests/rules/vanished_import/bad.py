import torch
from torch.optim.lr_scheduler import CosineAnealingLR  # expect: ENV015

weight = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.SGD([weight], lr=0.1)
scheduler = CosineAnealingLR(optimizer, T_max=10)
