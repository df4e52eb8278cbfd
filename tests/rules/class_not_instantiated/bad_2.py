import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(5, 3)
criterion = nn.CrossEntropyLoss  # expect: ERR045
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(16, 5), torch.randint(0, 3, (16,))
for _ in range(3):
    loss = criterion(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
