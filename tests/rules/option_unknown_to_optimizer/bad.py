"""A body that is to learn slowly below a new head."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(200, 8)
y = (x[:, 0] > 0).long()
body, head = nn.Sequential(nn.Linear(8, 32), nn.ReLU()), nn.Linear(32, 2)
groups = [
    {"params": body.parameters(), "lr_mult": 0.1},  # expect: TRN046
    {"params": head.parameters(), "lr_mult": 1.0},
]
optimizer = torch.optim.SGD(groups, lr=0.05)
for epoch in range(3):
    for idx in torch.randperm(200).split(20):
        optimizer.zero_grad()
        nn.functional.cross_entropy(head(body(x[idx])), y[idx]).backward()
        optimizer.step()
