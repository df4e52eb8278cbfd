import numpy as np
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
x = torch.randn(20, 3)
y = torch.randn(20, 1)
pred = model(x)
error = np.abs(pred.detach().numpy() - y.numpy()).mean()
print("mean error", error)
