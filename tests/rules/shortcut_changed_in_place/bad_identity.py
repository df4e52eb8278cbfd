import torch
import torch.nn.functional as F
from torch import nn


class Branch(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.first, self.second = nn.Linear(size, size), nn.Linear(size, size)

    def forward(self, x):
        x = F.leaky_relu(x, 0.1, inplace=True)  # expect: WIR262
        return self.second(F.relu(self.first(x), inplace=True))


class Net(nn.Module):
    def __init__(self, size=24):
        super().__init__()
        self.start, self.branch = nn.Linear(6, size), Branch(size)
        self.norm, self.end = nn.LayerNorm(size), nn.Linear(size, 1)

    def forward(self, x):
        h = self.norm(self.start(x))
        return self.end(h + self.branch(h))


torch.manual_seed(0)
x = torch.randn(300, 6)
y = x[:, :1] * x[:, 1:2]
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    for rows in torch.randperm(300).split(30):
        loss = F.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
