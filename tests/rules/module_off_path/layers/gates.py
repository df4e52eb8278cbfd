from torch import nn


class Gate(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear = nn.Linear(size, size)

    def forward(self, x):
        return x * self.linear(x).sigmoid()
