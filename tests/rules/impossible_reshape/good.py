import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 5)
        self.fc = nn.Linear(16 * 12 * 12, 10)

    def forward(self, x):
        x = torch.relu(self.conv(x))
        x = nn.functional.max_pool2d(x, 2)
        x = x.view(-1, 16 * 12 * 12)
        return self.fc(x)


torch.manual_seed(0)
model = Net()
loss = nn.functional.cross_entropy(model(torch.randn(32, 1, 28, 28)), torch.randint(0, 10, (32,)))
loss.backward()
