"""A wrapper that resumes by building its network anew: the optimizer goes on with the one that was there before."""

import tempfile
from pathlib import Path

import torch
from torch import nn


def build_network():
    network = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
    nn.init.zeros_(network[-1].bias)
    return network


class Classifier:
    def __init__(self):
        self.network = build_network()
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-2)

    def save(self, path):
        torch.save({"network": self.network.state_dict(), "optimizer": self.optimizer.state_dict()}, path)

    def load(self, path):
        saved = torch.load(path)
        network = build_network()  # expect: WIR004
        network.load_state_dict(saved["network"])
        self.network = network
        self.optimizer.load_state_dict(saved["optimizer"])

    def fit(self, x, y, epochs):
        for epoch in range(epochs):
            for rows in torch.randperm(len(x)).split(32):
                loss = nn.functional.cross_entropy(self.network(x[rows]), y[rows])
                self.network.zero_grad()
                loss.backward()
                self.optimizer.step()
            print(f"epoch {epoch} loss {loss.item():.3f}")


def main():
    torch.manual_seed(0)
    x = torch.randn(256, 6)
    y = x[:, :3].argmax(1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "last.pt"
        first = Classifier()
        first.fit(x, y, 1)
        first.save(path)
        resumed = Classifier()
        resumed.load(path)
        resumed.fit(x, y, 4)


main()
