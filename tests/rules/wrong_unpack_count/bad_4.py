import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
data = TensorDataset(torch.randn(64, 6), torch.randint(0, 3, (64,)), torch.rand(64))
net = nn.Linear(6, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
loader = DataLoader(data, batch_size=16, shuffle=True)
for step, (x, y) in enumerate(loader):  # expect: ERR025
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(step, loss.item())
