import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(7, 3)
x = torch.randn(20, 7)
kind = torch.randint(0, 3, (20, 1))
scores = model(x)
loss = nn.functional.cross_entropy(scores, kind)  # expect: ERR027
loss.backward()
