import torch
from torch import nn


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.ReLU())
        self.value = nn.Linear(8, 1)

    def forward(self, state):
        h = self.body(state)
        v = self.value(h).squeeze(-1)  # expect: ERR048


torch.manual_seed(0)
critic = Critic()
value = critic(torch.randn(6, 4))
loss = value.square().mean()
loss.backward()
