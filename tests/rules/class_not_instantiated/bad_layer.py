import torch
from torch import nn

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(9, 20)
        self.last = nn.Linear(20, 3)

    def forward(self, x):
        h = nn.ReLU(self.first(x))  # expect: ERR045
        return self.last(h)


x = torch.randn(24, 9)
y = torch.randint(0, 3, (24,))
model = Net()
loss = nn.functional.cross_entropy(model(x), y)
loss.backward()
