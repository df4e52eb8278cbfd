import torch
from torch import nn


class Attend(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.query = nn.Linear(dim, dim)

    def forward(self, x, memory, mask=None):
        scores = self.query(x) @ memory.transpose(-1, -2)
        return scores.softmax(-1) @ memory


torch.manual_seed(0)
attend = Attend(8)
x = torch.randn(2, 5, 8)
print(attend(x).shape)  # expect: ERR046
