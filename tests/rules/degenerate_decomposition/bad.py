import torch
from torch import nn


def nearest_rotation(matrix):
    u, _, v = torch.linalg.svd(matrix)  # expect: NUM018
    return u @ v


torch.manual_seed(15)
target = torch.linalg.qr(torch.randn(3, 3))[0]
rotation = nn.Parameter(torch.eye(3))
optimizer = torch.optim.SGD([rotation], lr=0.1)
for step in range(3):
    loss = (nearest_rotation(rotation) - target).pow(2).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
