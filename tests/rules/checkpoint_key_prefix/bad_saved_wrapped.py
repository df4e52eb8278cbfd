"""The trainer wraps its network for several cards and saves the wrapper; the scoring loads the plain network."""

import torch
from torch import nn


def network():
    return nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 1))


class Trainer:
    def __init__(self):
        self.net = nn.DataParallel(network())
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=1e-2)

    def fit(self, steps):
        for _ in range(steps):
            x = torch.randn(32, 5)
            loss = nn.functional.mse_loss(self.net(x), x.mean(1, keepdim=True))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def keep(self, path):
        torch.save({"weights": self.net.state_dict(), "optimizer": self.optimizer.state_dict()}, path)


def score(path):
    net = network()
    net.load_state_dict(torch.load(path)["weights"])  # expect: ERR051
    return net(torch.randn(8, 5)).mean().item()


torch.manual_seed(0)
trainer = Trainer()
trainer.fit(5)
trainer.keep("kept.pt")
print(score("kept.pt"))
