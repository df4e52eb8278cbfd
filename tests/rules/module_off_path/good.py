import torch
from layers.gates import Gate

torch.manual_seed(0)
print(Gate(4)(torch.randn(2, 4)).shape)
