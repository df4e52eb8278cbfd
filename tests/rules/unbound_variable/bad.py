import torch
from torch import nn


def epoch(net, loader, opt):
    for x, y in loader:
        loss = nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()  # expect: ERR063


torch.manual_seed(0)
batches = [(torch.randn(20, 3), torch.randn(20, 1))]
large = [(x, y) for x, y in batches if len(x) >= 32]
net = nn.Linear(3, 1)
print(epoch(net, large, torch.optim.SGD(net.parameters(), lr=0.1)))
