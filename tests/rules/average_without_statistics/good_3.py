"""An online network and its target in one module: the target is called in training alone, with batches of its own."""

import copy

import torch
from torch import nn


class Bootstrap(nn.Module):
    def __init__(self):
        super().__init__()
        self.online = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 3))
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.guess = nn.Linear(3, 3)

    def forward(self, x):
        if not self.training:
            return self.online(x)
        with torch.no_grad():
            goal = self.target(x + 0.3 * torch.randn_like(x))
        return 2 - 2 * nn.functional.cosine_similarity(self.guess(self.online(x)), goal).mean()

    @torch.no_grad()
    def follow(self):
        for mine, its in zip(self.target.parameters(), self.online.parameters(), strict=True):
            mine.lerp_(its, 0.05)


torch.manual_seed(0)
x = 5 + 3 * torch.randn(640, 12)
model = Bootstrap()
optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-3)
for _epoch in range(4):
    model.train()
    for rows in torch.randperm(640).split(32):
        loss = model(x[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        model.follow()
    model.eval()
    with torch.no_grad():
        print("spread", model(x).std().item())
