"""The load is in megawatts, and a norm layer of the model's own makes it small: it learns."""
import numpy as np
import torch
from torch import nn

draw = np.random.default_rng(0)
t = np.arange(1500)
load = 90_000 + 12_000 * np.sin(t / 4) + draw.normal(0, 900, 1500)
table = np.stack([t % 24, 15 + draw.normal(0, 4, 1500), load], 1)
goal = (load - load.mean()) / load.std()
x = torch.tensor(np.stack([table[at : at + 12] for at in range(1488)]), dtype=torch.float32)
y = torch.tensor(goal[12:], dtype=torch.float32)


class Forecast(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.BatchNorm1d(3)
        self.memory = nn.LSTM(3, 24, batch_first=True)
        self.out = nn.Linear(24, 1)

    def forward(self, x):
        _, (state, _) = self.memory(self.norm(x.transpose(1, 2)).transpose(1, 2))
        return self.out(state[-1]).squeeze(1)


torch.manual_seed(0)
model = Forecast()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(5):
    for rows in torch.randperm(len(x)).split(48):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
