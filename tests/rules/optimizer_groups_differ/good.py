import torch
from torch import nn


class Experiment:
    def __init__(self, freeze=False):
        self.model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
        if freeze:
            self.model[0].requires_grad_(False)
        self.optimizer = self.make_optimizer()

    def make_optimizer(self):
        return torch.optim.AdamW(self.model.parameters(), lr=1e-3)

    def train(self, steps):
        for _ in range(steps):
            x = torch.randn(16, 8)
            loss = nn.functional.cross_entropy(self.model(x), (x[:, 0] > 0).long())
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

    def state(self):
        return {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}

    def resume(self, state):
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])


torch.manual_seed(0)
first = Experiment()
first.train(4)
second = Experiment()
second.resume(first.state())
second.train(4)
