import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(8, 3)
x = torch.randn(32, 8)
species = torch.randint(0, 3, (32,)).float()
loss = nn.CrossEntropyLoss()(model(x), species)  # expect: ERR008
loss.backward()
