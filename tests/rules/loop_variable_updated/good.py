import torch
from torch import nn


class Momentum:
    def __init__(self, model, rate=0.05, share=0.9):
        self.model, self.rate, self.share = model, rate, share
        self.kept = {name: torch.zeros_like(p) for name, p in model.named_parameters()}

    def zero_grad(self):
        for p in self.model.parameters():
            p.grad = None

    def step(self):
        for name, p in self.model.named_parameters():
            self.kept[name] = self.share * self.kept[name] + (1 - self.share) * p.grad
            p.data = p.data - self.rate * self.kept[name]


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = Momentum(model)
for step in range(40):
    x = torch.randn(64, 8)
    loss = nn.functional.mse_loss(model(x), x[:, :1] - x[:, 1:2])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
