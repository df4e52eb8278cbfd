import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(5, 16)
        self.head = nn.Linear(16, 3)  # expect: ERR019

    def forward(self, x):
        return self.head(torch.relu(self.body(x)))


torch.manual_seed(0)
model = Net()
x, kind = torch.randn(40, 5), torch.arange(40) % 4
criterion = nn.CrossEntropyLoss()
loss = criterion(model(x), kind)
loss.backward()
