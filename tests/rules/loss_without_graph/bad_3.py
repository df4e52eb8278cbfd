import torch
from torch import nn

torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
for p in backbone.parameters():
    p.requires_grad = False  # expect: ERR014
x, y = torch.randn(40, 6), torch.randint(0, 3, (40,))
loss = nn.functional.cross_entropy(backbone(x), y)
loss.backward()
