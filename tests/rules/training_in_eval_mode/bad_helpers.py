import torch
import torch.nn.functional as F
from torch import nn


def encoder(size):
    return nn.Sequential(nn.Linear(size, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, 8))


class Pairs:
    def __init__(self):
        self.left, self.right = encoder(10), encoder(12)
        self.optimizer = torch.optim.Adam([*self.left.parameters(), *self.right.parameters()], lr=1e-3)

    def train_start(self):
        self.left.train()
        self.right.train()

    def val_start(self):
        for part in (self.left, self.right):
            part.eval()

    def step(self, a, b):
        scores = self.left(a) @ self.right(b).t()
        loss = F.cross_entropy(scores, torch.arange(len(a)))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def validate(model, a, b):
    model.val_start()  # expect: WIR021
    with torch.no_grad():
        return (model.left(a) @ model.right(b).t()).argmax(1).eq(torch.arange(len(a))).float().mean().item()


torch.manual_seed(0)
hidden = torch.randn(500, 6)
a, b = hidden @ torch.randn(6, 10), hidden @ torch.randn(6, 12)
model = Pairs()
for epoch in range(6):
    model.train_start()
    for i, rows in enumerate(torch.randperm(400).split(40)):
        loss = model.step(a[rows], b[rows])
        if i % 5 == 1:
            right = validate(model, a[400:], b[400:])
    print(f"epoch {epoch} loss {loss:.3f} right {right:.3f}")
