import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(6, 3)
criterion = nn.CrossEntropyLoss(reduction="none")
x, y = torch.randn(24, 6), torch.randint(0, 3, (24,))
weight = torch.rand(24)
loss = criterion(model(x), y) * weight
loss.mean().backward()
