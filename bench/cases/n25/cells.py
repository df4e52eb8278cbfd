import torch
from torch import nn


class GatedMemory(nn.Module):
    def __init__(self, n_in, size):
        super().__init__()
        self.size = size
        self.gate = nn.Linear(n_in + size, size)
        self.cand = nn.Linear(n_in + size, size)

    def forward(self, x, memory):
        both = torch.cat([x, memory], dim=1)
        keep = torch.sigmoid(self.gate(both))
        new = torch.tanh(self.cand(both))
        out = keep * memory
        new *= 1 - keep
        out += new
        return out
