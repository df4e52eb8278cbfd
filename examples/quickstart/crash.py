"""Trains a classifier with a focal loss of its own. It stops at the first batch, and torch does not say why."""

import torch
from torch import nn


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0):
        super().__init__()
        self.gamma = gamma

    def foward(self, logits, target):
        p = torch.sigmoid(logits)
        return -((1 - p) ** self.gamma * target * p.log()).mean()


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters())
    loss_fn = FocalLoss()
    for step in range(100):
        optimizer.zero_grad()
        loss = loss_fn(model(torch.randn(32, 8)), torch.ones(32, 1))
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    main()
