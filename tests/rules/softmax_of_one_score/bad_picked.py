"""A router of experts: the best one is picked first, and the softmax of what is left has nothing to choose from."""

import torch
from torch import nn


class Mixture(nn.Module):
    def __init__(self, size, experts=4):
        super().__init__()
        self.router = nn.Linear(size, experts, bias=False)
        self.experts = nn.ModuleList(nn.Linear(size, size) for _ in range(experts))

    def forward(self, x):
        scores, which = self.router(x).topk(1, dim=-1)
        weights = scores.softmax(dim=-1)  # expect: WIR073
        answers = torch.stack([expert(x) for expert in self.experts], 1)
        return weights * answers[torch.arange(len(x)), which[:, 0]]


torch.manual_seed(0)
x = torch.randn(512, 8)
y = torch.where(x[:, :1] > 0, x[:, 1:2] * 2, -x[:, 2:3])
model = nn.Sequential(nn.Linear(8, 16), Mixture(16), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    for rows in torch.randperm(512).split(64):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
