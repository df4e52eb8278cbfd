"""The backbone stays as it is: the new head comes into the model after the freeze."""

import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU())
        self.classifier = nn.Linear(24, classes)

    def forward(self, x):
        return self.classifier(self.features(x))


class FineTuning:
    def __init__(self, source, classes):
        self.net = Encoder(10)
        self.net.load_state_dict(source.state_dict())
        self.net.requires_grad_(False)
        self.net.classifier = nn.Linear(24, classes)
        self.optimizer = torch.optim.Adam(self.net.classifier.parameters(), lr=1e-3)

    def step(self, x, y):
        self.optimizer.zero_grad()
        loss = nn.functional.cross_entropy(self.net(x), y)
        loss.backward()
        self.optimizer.step()
        return loss.item()


torch.manual_seed(0)
source = Encoder(10)
first = torch.optim.Adam(source.parameters(), lr=1e-3)
for _ in range(4):
    loss = nn.functional.cross_entropy(source(torch.randn(32, 12)), torch.randint(0, 10, (32,)))
    first.zero_grad()
    loss.backward()
    first.step()
tuning = FineTuning(source, 3)
for _ in range(4):
    print(tuning.step(torch.randn(32, 12), torch.randint(0, 3, (32,))))
