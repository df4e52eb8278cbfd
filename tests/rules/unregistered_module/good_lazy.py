import copy
import io

import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.LazyLinear(16)
        self.norm = nn.LazyBatchNorm1d()
        self.out = nn.LazyLinear(3)
        self.second_task = nn.LazyLinear(4)

    def forward(self, x):
        return self.out(torch.relu(self.norm(self.body(x))))


net = Net()
start = copy.deepcopy(net.out.state_dict())
net.out.load_state_dict(start)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
x = torch.randn(64, 5)
y = x[:, :3].argmax(1)
for epoch in range(8):
    for rows in torch.randperm(64).split(16):
        loss = nn.functional.cross_entropy(net(x[rows]), y[rows])
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        correct = (net(x).argmax(1) == y).float().mean()
    net.train()
    print(epoch, loss.item(), correct.item())
file = io.BytesIO()
torch.save(net.state_dict(), file)
file.seek(0)
net.load_state_dict(torch.load(file, weights_only=False))
