"""A variational autoencoder whose divergence is taken out as a number before it is weighed and added."""

import torch
from torch import nn
import torch.nn.functional as F


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.inward = nn.Linear(20, 8)
        self.outward = nn.Linear(4, 20)

    def forward(self, x):
        mean, log_variance = self.inward(x).chunk(2, dim=1)
        code = mean + torch.randn_like(mean) * (0.5 * log_variance).exp()
        return self.outward(code), mean, log_variance


def divergence(mean, log_variance):
    per_sample = -0.5 * (1 + log_variance - mean.square() - log_variance.exp()).sum(1)
    return per_sample.mean().item()  # expect: WIR011


torch.manual_seed(0)
data = torch.randn(600, 4) @ torch.randn(4, 20)
model = Coder()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
beta = 0.05
for epoch in range(6):
    for x in data[torch.randperm(600)].split(60):
        rebuilt, mean, log_variance = model(x)
        loss = F.mse_loss(rebuilt, x) + beta * divergence(mean, log_variance)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
