import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv1d(1, 4, 3)
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        h = torch.relu(self.cov1(x)).mean(-1)  # expect: ERR043
        return self.head(h)


torch.manual_seed(0)
model = Net()
print(model(torch.randn(3, 1, 10)).shape)
