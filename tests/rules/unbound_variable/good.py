import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def epoch(net, loader, opt):
    loss = torch.tensor(float("nan"))
    for x, y in loader:
        loss = nn.functional.mse_loss(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


torch.manual_seed(0)
data = TensorDataset(torch.randn(20, 3), torch.randn(20, 1))
net = nn.Linear(3, 1)
print(epoch(net, DataLoader(data, batch_size=8), torch.optim.SGD(net.parameters(), lr=0.1)))
