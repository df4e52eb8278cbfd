import copy

import torch
from torch import nn


class Average:
    def __init__(self, model, decay=0.9):
        self.model = copy.deepcopy(model).eval().requires_grad_(False)
        self.decay = decay

    @torch.no_grad()
    def update(self, model):
        for mean, weight in zip(self.model.parameters(), model.parameters(), strict=True):
            mean.mul_(self.decay).add_(weight, alpha=1 - self.decay)
        for mean, buffer in zip(self.model.buffers(), model.buffers(), strict=True):
            mean.copy_(buffer)


def accuracy(model, x, y):
    was = model.training
    model.eval()
    with torch.no_grad():
        right = (model(x).argmax(1) == y).float().mean().item()
    model.train(was)
    return right


torch.manual_seed(0)
x = 5 + 3 * torch.randn(640, 12)
y = ((x - 5) @ torch.randn(12, 3)).argmax(1)
model = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 3))
ema = Average(model)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    for rows in torch.randperm(640).split(32):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update(model)
    print(f"epoch {epoch} model {accuracy(model, x, y):.3f} average {accuracy(ema.model, x, y):.3f}")
