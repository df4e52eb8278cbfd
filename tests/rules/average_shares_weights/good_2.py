import torch
from torch import nn


class Average:
    def __init__(self, model, decay):
        self.model = model
        self.decay = decay
        self.shadow = {name: p.detach().clone() for name, p in model.named_parameters()}

    def update(self):
        for name, p in self.model.named_parameters():
            self.shadow[name].lerp_(p.detach(), 1 - self.decay)


torch.manual_seed(0)
x = torch.randn(400, 6)
y = x[:, :1] * x[:, 1:2]
model = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
ema = Average(model, 0.97)
for epoch in range(20):
    for rows in torch.randperm(400).split(100):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update()
    print(f"epoch {epoch} loss {loss.item():.3f}")
