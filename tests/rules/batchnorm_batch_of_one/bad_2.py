import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 2))
sample = torch.randn(1, 10)
guess = model(sample).argmax(1)  # expect: ERR022
print(guess)
