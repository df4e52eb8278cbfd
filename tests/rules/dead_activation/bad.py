"""Biases filled with a constant that was meant for the weights."""
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(10, 32)
        self.last = nn.Linear(32, 1)
        nn.init.constant_(self.first.bias, -10.0)  # expect: TRN003

    def forward(self, x):
        return self.last(torch.relu(self.first(x)))


torch.manual_seed(0)
x = torch.randn(500, 10)
y = x[:, :1] + x[:, 1:2] * x[:, 2:3]
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(6):
    for rows in torch.randperm(len(x)).split(50):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
