"""A new head for a new task, made by a helper: the optimizer is there already."""

import torch
from torch import nn


def make_head(classes):
    return nn.Sequential(nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, classes))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.ReLU())
        self.head = make_head(2)

    def forward(self, x):
        return self.head(self.body(x))


class Task:
    def __init__(self):
        self.net = Net()
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-2)

    def prepare(self, classes):
        self.net.head = make_head(classes)  # expect: WIR004

    def fit(self, x, y):
        for epoch in range(4):
            for rows in torch.randperm(256).split(32):
                loss = nn.functional.cross_entropy(self.net(x[rows]), y[rows])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            print(f"epoch {epoch} loss {loss.item():.3f}")


torch.manual_seed(0)
x = torch.randn(256, 8)
task = Task()
task.prepare(4)
task.fit(x, x[:, :4].argmax(1))
