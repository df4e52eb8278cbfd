"""A linear layer with weights of unit norm, whose own forward is misspelt: the plain one runs."""
import torch
from torch import nn
import torch.nn.functional as F


class UnitLinear(nn.Linear):
    def foward(self, x):  # expect: WIR050
        return F.linear(x, F.normalize(self.weight, dim=1), self.bias)


torch.manual_seed(0)
x = torch.randn(600, 8)
y = (x[:, 0] - x[:, 1] > 0).long()
model = nn.Sequential(UnitLinear(8, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    for rows in torch.randperm(len(x)).split(50):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
