import torch
from torch import nn


class Average:
    def __init__(self, model, decay=0.98):
        self.model = model
        self.decay = decay
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}
        self.backup = {}

    @torch.no_grad()
    def update(self):
        for name, p in self.model.named_parameters():
            self.shadow[name].mul_(self.decay).add_(p, alpha=1 - self.decay)

    def apply_shadow(self):
        for name, p in self.model.named_parameters():
            self.backup[name] = p.data
            p.data = self.shadow[name].clone()

    def restore(self):
        for name, p in self.model.named_parameters():
            p.data = self.backup[name]
        self.backup = {}


class Trainer:
    def __init__(self):
        self.x = torch.randn(600, 6)
        self.y = (self.x[:, 0] * self.x[:, 1] > 0).long()
        self.model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 2))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=3e-3)
        self.ema = Average(self.model)

    def evaluate(self):
        self.ema.apply_shadow()
        self.model.eval()
        with torch.no_grad():
            accuracy = (self.model(self.x[500:]).argmax(1) == self.y[500:]).float().mean().item()
        self.model.train()
        self.ema.restore()
        return accuracy

    def fit(self):
        for epoch in range(5):
            for rows in torch.randperm(500).split(25):
                loss = nn.functional.cross_entropy(self.model(self.x[rows]), self.y[rows])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.ema.update()
            print(f"epoch {epoch} loss {loss.item():.3f} accuracy {self.evaluate():.2f}")


torch.manual_seed(0)
Trainer().fit()
