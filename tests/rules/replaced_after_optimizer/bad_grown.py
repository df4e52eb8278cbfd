"""Classes come in tasks: the head grows by new parameters, and the optimizer goes on with the old ones."""

import torch
from torch import nn


class Learner(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
        self.head = nn.Parameter(torch.randn(classes, 32) * 0.1)

    def grow(self, more):
        rows = torch.cat([self.head.detach(), torch.randn(more, 32) * 0.1])
        self.head = nn.Parameter(rows)

    def forward(self, x):
        return self.body(x) @ self.head.T


torch.manual_seed(0)
centres = torch.randn(6, 8) * 2
learner = Learner(3)
optimizer = torch.optim.Adam(learner.parameters(), lr=3e-3)
for task in range(2):
    if task:
        learner.grow(3)  # expect: WIR004
    for _ in range(150):
        y = torch.randint(0, 3 * (task + 1), (32,))
        loss = nn.functional.cross_entropy(learner(centres[y] + torch.randn(32, 8)), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"task {task} loss {loss.item():.3f}")
