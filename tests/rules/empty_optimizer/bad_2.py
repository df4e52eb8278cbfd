import torch
from torch import nn


class Deep(nn.Module):
    def __init__(self, depth=3):
        super().__init__()
        self.blocks = [nn.Linear(4, 4) for _ in range(depth)]  # expect: ERR058

    def forward(self, x):
        for block in self.blocks:
            x = torch.relu(block(x))
        return x


torch.manual_seed(0)
model = Deep()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
