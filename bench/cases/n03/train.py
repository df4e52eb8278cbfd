import numpy as np
import torch
from torch import nn


class CountData:
    """Daily page views and how often the advert was clicked."""

    def __init__(self, n=2400, seed=8):
        rng = np.random.default_rng(seed)
        self.x = rng.normal(size=(n, 8)).astype(np.float32)
        rate = np.exp(2.2 + 0.5 * self.x[:, 0] - 0.4 * self.x[:, 3])
        self.clicks = rng.poisson(rate).astype(np.float32)

    def split(self, frac=0.85):
        k = int(len(self.x) * frac)
        target = np.log(self.clicks)
        return (self.x[:k], target[:k]), (self.x[k:], target[k:])


class Trainer:
    def __init__(self, model, lr=3e-3, batch=60):
        self.model, self.batch = model, batch
        self.optim = torch.optim.Adam(model.parameters(), lr=lr)
        self.criterion = nn.MSELoss()
        self.history = []

    def fit(self, data, epochs=4):
        x, y = (torch.from_numpy(a) for a in data)
        for epoch in range(epochs):
            for start in range(0, len(x), self.batch):
                sl = slice(start, start + self.batch)
                self.history.append(self._step(x[sl], y[sl]))
            print(f"epoch {epoch}: loss {self.history[-1]:.4f}, mean of the epoch {np.mean(self.history[-34:]):.4f}")

    def _step(self, xb, yb):
        self.optim.zero_grad()
        loss = self.criterion(self.model(xb).flatten(), yb)
        loss.backward()
        self.optim.step()
        return loss.item()

    @torch.no_grad()
    def score(self, data):
        x, y = (torch.from_numpy(a) for a in data)
        return (self.model(x).flatten() - y).abs().median().item()


torch.manual_seed(4)
with np.errstate(divide="ignore"):
    train, valid = CountData().split()
trainer = Trainer(nn.Sequential(nn.Linear(8, 32), nn.SiLU(), nn.Linear(32, 1)))
trainer.fit(train)
print("median error on held out days", trainer.score(valid))
