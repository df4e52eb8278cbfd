"""A cell in a loop over time: a few steps train well, then one gradient is a thousand times the others."""
import torch
from torch import nn


class Drift(nn.Module):
    def __init__(self, channels=4, hidden=40):
        super().__init__()
        self.cell = nn.RNNCell(channels, hidden, nonlinearity="relu")
        self.level = nn.Linear(hidden, 1)
        nn.init.eye_(self.cell.weight_hh)

    def forward(self, x):
        h = x.new_zeros(len(x), self.cell.hidden_size)
        for t in range(x.shape[1]):
            h = self.cell(x[:, t], h)
        return self.level(h).squeeze(1)


torch.manual_seed(8)
readings = torch.randn(640, 150, 4)
level = readings[:, :, 0].mean(1) * 8 + readings[:, -1, 1]
model = Drift()
optimizer = torch.optim.SGD(model.parameters(), lr=0.005)
for epoch in range(4):
    for rows in torch.randperm(640).split(64):
        loss = nn.functional.mse_loss(model(readings[rows]), level[rows])
        optimizer.zero_grad()
        loss.backward()  # expect: NUM025
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
