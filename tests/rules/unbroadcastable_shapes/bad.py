import torch
from torch import nn


class Encoding(nn.Module):
    def __init__(self, width=16, longest=32):
        super().__init__()
        self.pos = nn.Parameter(torch.randn(1, longest, width))
        self.out = nn.Linear(width, 2)

    def forward(self, tokens):
        positions = self.pos
        summed = tokens + positions  # expect: ERR004
        return self.out(summed.mean(1))


torch.manual_seed(0)
model = Encoding()
optimizer = torch.optim.Adam(model.parameters())
tokens = torch.randn(8, 20, 16)
loss = nn.functional.cross_entropy(model(tokens), torch.randint(0, 2, (8,)))
loss.backward()
optimizer.step()
