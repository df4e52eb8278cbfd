import torch
from torch import nn


class Attend(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query = nn.Linear(dim, dim)

    def forward(self, x, memory=None):
        memory = x if memory is None else memory
        return (self.query(x) @ memory.transpose(-1, -2)).softmax(-1) @ memory


torch.manual_seed(0)
attend = Attend(8)
print(attend(torch.randn(2, 5, 8)).shape)
