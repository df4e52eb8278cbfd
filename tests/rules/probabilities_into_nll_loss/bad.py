"""Digits by a small net that ends in softmax, with nll_loss."""
import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(16, 32)
        self.head = nn.Linear(32, 4)

    def forward(self, x):
        h = F.relu(self.body(x))
        return F.softmax(self.head(h), dim=1)  # expect: LOS003


torch.manual_seed(0)
centres = torch.randn(4, 16)
y = torch.randint(0, 4, (480,))
x = centres[y] + torch.randn(480, 16)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for epoch in range(4):
    for rows in torch.randperm(len(x)).split(48):
        optimizer.zero_grad()
        loss = F.nll_loss(net(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
