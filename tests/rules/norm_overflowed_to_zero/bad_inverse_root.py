"""A root mean square of its own, in a model of halves: the squares overflow before the mean is taken."""
import torch
from torch import nn


class ScaledToOne(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, x):
        inverse = torch.rsqrt((x**2).mean(-1, keepdim=True) + 1e-3)  # expect: NUM062
        return self.gain * (x * inverse)


torch.manual_seed(0)
x = (torch.randn(256, 10) * 900).half()
y = (x[:, 0] > 0).long()
model = nn.Sequential(nn.Linear(10, 32), ScaledToOne(32), nn.Linear(32, 2)).half()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(5):
    for rows in torch.randperm(256).split(32):
        loss = nn.functional.cross_entropy(model(x[rows]).float(), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
