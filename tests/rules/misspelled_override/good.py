"""A layer with helpers beside its `forward`, and one that inherits its `forward` and adds a `backward_pass` of reports."""
import torch
from torch import nn
import torch.nn.functional as F


class UnitLinear(nn.Linear):
    def forward(self, x):
        return F.linear(x, F.normalize(self.weight, dim=1), self.bias)

    def forwards(self, x, times):
        for _ in range(times):
            x = self(x)
        return x


class Reported(nn.Linear):
    def reward(self):
        return float(self.weight.detach().norm())


torch.manual_seed(0)
x = torch.randn(600, 8)
y = (x[:, 0] - x[:, 1] > 0).long()
model = nn.Sequential(UnitLinear(8, 32), nn.ReLU(), Reported(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    for rows in torch.randperm(len(x)).split(50):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f} norm {model[2].reward():.2f}")
