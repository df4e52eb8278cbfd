import torch
from model_ring import Net

torch.manual_seed(0)
net = Net()
print(net(torch.randn(2, 4)).shape)
