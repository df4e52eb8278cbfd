import torch
from torch import nn


class Noisy(nn.Module):
    def __init__(self, noise=0.1, sharpness=1.0):
        super().__init__()
        self.noise, self.sharpness, self.evaluated = noise, sharpness, True
        self.body = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        if not self.training:
            self.sharpness = 1.0
            if self.evaluated:
                self.evaluated = False
        return self.body(x + self.noise * torch.randn_like(x)) * self.sharpness


def evaluate(model, x, y):
    model.eval()
    kept, model.noise = model.noise, 0.0
    with torch.no_grad():
        error = nn.functional.mse_loss(model(x), y).item()
    model.noise = kept
    return error


torch.manual_seed(0)
x = torch.randn(400, 6)
y = x[:, :1] * x[:, 1:2]
model = Noisy()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    model.train()
    for rows in torch.randperm(300).split(30):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f} error {evaluate(model, x[300:], y[300:]):.3f}")
