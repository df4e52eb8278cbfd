import torch
import torch.nn.functional as F
from torch import nn, optim


class Config:
    epochs = 8
    batch_size = 64
    lr = 2e-3
    hidden = 48


class Trainer:
    def __init__(self, model, cfg):
        self.model = model
        self.cfg = cfg
        self.optimizer = optim.Adam(model.parameters(), lr=cfg.lr)
        self.history = []

    def compute_loss(self, xb, yb):
        return F.cross_entropy(self.model(xb), yb)

    def update(self, loss):
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
        self.optimizer.zero_grad()
        self.optimizer.step()

    def fit(self, x, y):
        for epoch in range(self.cfg.epochs):
            total = 0.0
            for idx in torch.randperm(len(x)).split(self.cfg.batch_size):
                loss = self.compute_loss(x[idx], y[idx])
                self.update(loss)
                total += loss.item() * len(idx)
            self.history.append(total / len(x))
            print(f"[{epoch + 1}/{self.cfg.epochs}] loss={self.history[-1]:.4f}")

    @torch.no_grad()
    def score(self, x, y):
        return (self.model(x).argmax(1) == y).float().mean().item()


def spirals(n=1500, arms=3):
    y = torch.arange(n) % arms
    r = torch.rand(n)
    t = r * 4 + y * (2 * torch.pi / arms) + 0.1 * torch.randn(n)
    return torch.stack([r * t.cos(), r * t.sin()], 1), y


if __name__ == "__main__":
    torch.manual_seed(3)
    cfg = Config()
    x, y = spirals()
    net = nn.Sequential(nn.Linear(2, cfg.hidden), nn.ReLU(), nn.Linear(cfg.hidden, cfg.hidden), nn.ReLU(), nn.Linear(cfg.hidden, 3))
    trainer = Trainer(net, cfg)
    trainer.fit(x, y)
    print(f"train accuracy {trainer.score(x, y):.3f}")
