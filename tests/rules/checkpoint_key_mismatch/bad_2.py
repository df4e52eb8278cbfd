import torch
from torch import nn


class Tiny(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.head = nn.Linear(8, classes)

    def forward(self, x):
        return self.head(self.body(x))


class Newer(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.heads = nn.Linear(8, 3)
        self.aux = nn.Linear(8, 1)


torch.manual_seed(0)
state = Tiny().state_dict()
Newer().load_state_dict(state)  # expect: ERR052
