"""Standardised temperatures, predicted by a stack that ends in ReLU."""
import torch
from torch import nn


class Forecast(nn.Module):
    def __init__(self, sizes=(6, 32, 16, 1)):
        super().__init__()
        layers = []
        for before, after in zip(sizes[:-1], sizes[1:]):
            layers += [nn.Linear(before, after), nn.ReLU()]  # expect: LOS010
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return self.layers(x).squeeze(1)


torch.manual_seed(2)
x = torch.randn(500, 6)
y = x[:, 0] - 0.5 * x[:, 1] + 0.2 * torch.randn(500)
y = (y - y.mean()) / y.std()
model = Forecast()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(5):
    for rows in torch.randperm(len(x)).split(50):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} mse {loss.item():.3f}")
