"""Prices in the ten thousands go into a GRU as they are; only what is to be told is scaled."""
import torch
from torch import nn

torch.manual_seed(0)
days = torch.arange(1200.0)
prices = torch.stack([31000 + 4000 * torch.sin(days / 9 + k) + 300 * torch.randn(1200) for k in range(2)], 1)  # expect: TRN004
goal = (prices[:, 0] - prices[:, 0].mean()) / prices[:, 0].std()
x = torch.stack([prices[at : at + 14] for at in range(1200 - 14)])
y = goal[14:]


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.memory = nn.GRU(2, 24, batch_first=True)
        self.out = nn.Linear(24, 1)

    def forward(self, x):
        states, _ = self.memory(x)
        return self.out(states[:, -1]).squeeze(1)


model = Forecast()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    for rows in torch.randperm(len(x)).split(50):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
