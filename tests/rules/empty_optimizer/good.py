import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
weights = list(net.parameters())
print("weights:", sum(w.numel() for w in weights))
opt = torch.optim.SGD(weights, lr=0.1)
loss = net(torch.randn(2, 4)).mean()
loss.backward()
opt.step()
