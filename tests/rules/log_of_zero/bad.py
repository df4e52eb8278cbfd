import torch
from torch import nn


class Attention(nn.Module):
    def __init__(self, size, parts):
        super().__init__()
        self.score = nn.Linear(size, parts)

    def forward(self, x):
        return torch.softmax(self.score(x) * 40, dim=1)


def entropy(p):
    return -(p * torch.log(p)).sum(1).mean()  # expect: NUM002


torch.manual_seed(1)
x = torch.randn(256, 10) * 3
net = Attention(10, 5)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(4):
    loss = entropy(net(x))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
