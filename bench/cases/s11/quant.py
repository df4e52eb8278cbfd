import torch
from torch import nn


class LearnedQuantizer(nn.Module):
    """maps activations to a small number of integer levels, as the device does"""

    def __init__(self, levels=8):
        super().__init__()
        self.levels = levels

    def forward(self, x):
        scaled = torch.sigmoid(x) * (self.levels - 1)
        q = torch.round(scaled)
        return q / (self.levels - 1) * 2 - 1


class QuantNet(nn.Module):
    def __init__(self, n_in, hidden, n_out):
        super().__init__()
        self.fc1 = nn.Linear(n_in, hidden)
        self.q1 = LearnedQuantizer()
        self.fc2 = nn.Linear(hidden, hidden)
        self.q2 = LearnedQuantizer()
        self.fc3 = nn.Linear(hidden, n_out)

    def forward(self, x):
        x = self.q1(self.fc1(x))
        x = self.q2(self.fc2(x))
        return self.fc3(x)
