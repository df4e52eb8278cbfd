"""A trainer that resumes: the optimizer is built first, then the whole model comes out of the file."""

import tempfile
from pathlib import Path

import torch
from torch import nn


def read(path):
    return torch.load(path, weights_only=False)


class Job:
    def __init__(self, path, epochs):
        self.path, self.epochs = path, epochs
        self.model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-2)
        if path.exists():
            self.resume()

    def resume(self):
        saved = read(self.path)
        self.optimizer.load_state_dict(saved["optimizer"])
        self.model = saved["model"]  # expect: WIR004

    def fit(self, x, y):
        for _ in range(self.epochs):
            for rows in torch.randperm(len(x)).split(32):
                loss = nn.functional.cross_entropy(self.model(x[rows]), y[rows])
                self.model.zero_grad()
                loss.backward()
                self.optimizer.step()
        torch.save({"model": self.model, "optimizer": self.optimizer.state_dict()}, self.path)
        print(f"loss {loss.item():.3f}")


torch.manual_seed(0)
x = torch.randn(256, 6)
y = x[:, :3].argmax(1)
with tempfile.TemporaryDirectory() as folder:
    Job(Path(folder) / "last.pt", epochs=1).fit(x, y)
    Job(Path(folder) / "last.pt", epochs=3).fit(x, y)
