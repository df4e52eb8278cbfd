import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1), nn.Sigmoid())
data = torch.randn(16, 4)
data[3, 2] = float("nan")  # expect: ERR026
target = torch.randint(0, 2, (16, 1)).float()
probs = model(data)
loss = nn.functional.binary_cross_entropy(probs, target)
loss.backward()
