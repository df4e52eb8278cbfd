import torch
from torch import nn


class OwnRMS:
    def __init__(self, parameters, lr):
        self.parameters, self.lr = list(parameters), lr
        self.squares = [torch.zeros_like(p) for p in self.parameters]

    @torch.no_grad()
    def step(self):
        for p, square in zip(self.parameters, self.squares, strict=True):
            square.mul_(0.9).addcmul_(p.grad, p.grad, value=0.1)
            p -= self.lr * p.grad / square.sqrt()  # expect: NUM003
            p.grad = None


torch.manual_seed(0)
words = (torch.rand(200, 40) < 0.1).float()
words[:, 7] = 0.0
labels = (words[:, 0] + words[:, 1] > 0).long()
model = nn.Linear(40, 2)
optimizer = OwnRMS(model.parameters(), lr=1e-3)
for step in range(5):
    loss = nn.functional.cross_entropy(model(words), labels)
    loss.backward()
    optimizer.step()
