import torch
from torch import nn

torch.manual_seed(0)


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(5))

    def forward(self, x):
        return x * self.gain


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = torch.jit.script(Scale())
        self.mix = torch.jit.trace(nn.Linear(5, 5), torch.zeros(1, 5))
        self.out = nn.Linear(5, 3)

    def forward(self, x):
        return self.out(torch.relu(self.mix(self.scale(x))))


net = Net()
opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
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
