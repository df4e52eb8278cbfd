"""A NaN or an infinity in forward or in backward: where does it begin? (`--anomaly` asks torch's anomaly mode instead.)"""

import argparse

import torch
from torch import nn


class Twin(nn.Module):
    """Tells whether two images show the same thing, by the distance of their embeddings."""

    def __init__(self, fault):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 8))
        self.scale = nn.Parameter(torch.tensor(1.0))
        self.fault = fault

    def distance(self, left, right):
        squares = (left - right).pow(2).sum(dim=1)
        if self.fault == "backward":
            return squares.sqrt()
        return (squares + 1e-8).sqrt()

    def likeness(self, distance):
        if self.fault == "inf":
            return 1 / (self.scale * (100 * distance).exp())
        return torch.exp(-self.scale * distance)

    def forward(self, left, right):
        distance = self.distance(self.body(left), self.body(right))
        margin = 1.0 - distance
        if self.fault == "forward":
            return torch.log(margin)
        return self.likeness(distance) + 0.01 * margin


def pairs(count):
    """Pairs of images; every tenth pair is one image twice."""
    left = torch.randn(count, 20)
    right = left + torch.randn(count, 20)
    right[::10] = left[::10]
    same = (torch.arange(count) % 10 == 0).float()
    return left, right, same


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", choices=["none", "forward", "backward", "inf"], default="none")
    parser.add_argument("--anomaly", action="store_true")
    options = parser.parse_args()
    torch.manual_seed(0)
    torch.autograd.set_detect_anomaly(options.anomaly)
    left, right, same = pairs(640)
    model = Twin(options.fault)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(5):
        for rows in torch.randperm(640).split(64):
            score = model(left[rows], right[rows])
            loss = (score - same[rows]).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
