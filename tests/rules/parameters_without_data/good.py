import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore")


def make(width=16):
    return nn.Sequential(nn.Linear(width, 32), nn.ReLU(), nn.Linear(32, 1))


torch.manual_seed(0)
state = make().state_dict()
with torch.device("meta"):
    net = make()
net.load_state_dict(state, assign=True)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(20):
    x = torch.randn(32, 16)
    loss = (net(x).squeeze(1) - x.sum(1)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
