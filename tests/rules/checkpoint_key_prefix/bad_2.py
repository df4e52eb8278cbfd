import torch
from torch import nn


class Tiny(nn.Module):
    def __init__(self, classes=3):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.head = nn.Linear(8, classes)

    def forward(self, x):
        return self.head(self.body(x))


class Lit(nn.Module):
    def __init__(self):
        super().__init__()
        self.network = Tiny()


torch.manual_seed(0)
state = Tiny().state_dict()
lit = Lit()
lit.load_state_dict(state)  # expect: ERR051
