"""The mean over the batch, beside a penalty that is a sum over weights."""

import torch
from torch import nn


class Trainer:
    def __init__(self, model):
        self.model = model
        self.criterion = nn.CrossEntropyLoss(reduction="mean")
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def fit(self, x, y, epochs):
        for epoch in range(epochs):
            for rows in torch.randperm(len(x)).split(256):
                penalty = sum(p.square().sum() for p in self.model.parameters())
                loss = self.criterion(self.model(x[rows]), y[rows]) + 1e-4 * penalty
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            print(f"epoch {epoch} loss {loss.item():.3f}")


torch.manual_seed(1)
torch.set_default_dtype(torch.float64)  # so that the numbers do not hang on the processor
x = torch.randn(2560, 20)
y = (x @ torch.randn(20, 4) + 0.5 * torch.randn(2560, 4)).argmax(1)
Trainer(nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))).fit(x, y, 6)
