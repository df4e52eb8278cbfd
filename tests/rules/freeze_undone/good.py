"""A model frozen as a whole, of which the head is switched on again."""

import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 16))
        self.head = nn.Linear(16, 3)

    def forward(self, rows):
        return self.head(torch.relu(self.encoder(rows)))


torch.manual_seed(0)
rows = torch.randn(256, 12)
kinds = (rows[:, 0] > 0).long() + (rows[:, 1] > 0.5).long()
model = Reader()
for parameter in model.parameters():
    parameter.requires_grad = False
for parameter in model.head.parameters():
    parameter.requires_grad_(True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(20):
    for part in torch.randperm(len(rows)).split(64):
        loss = nn.functional.cross_entropy(model(rows[part]), kinds[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
