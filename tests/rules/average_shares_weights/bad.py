"""A class that keeps the average of the weights in a dict, and forgets to clone them."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(1000, 10)
y = (x[:, 0] * x[:, 1] + 0.5 * x[:, 2] > 0).long()
model = nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Linear(48, 2))

class Average:
    def __init__(self, model, decay):
        self.decay = decay
        self.shadow = {name: p.detach() for name, p in model.named_parameters()}  # expect: WIR055

    def update(self, model):
        for name, p in model.named_parameters():
            self.shadow[name].mul_(self.decay).add_(p.detach(), alpha=1 - self.decay)


ema = Average(model, 0.99)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    for rows in torch.randperm(800).split(50):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update(model)
    with torch.no_grad():
        hits = (model(x[800:]).argmax(1) == y[800:]).float().mean()
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy of the average {hits:.3f}")
