"""Labels that were not measured are masked after the error is squared."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class MaskedError(nn.Module):
    def forward(self, answer, wanted):
        known = ~torch.isnan(wanted)
        error = (answer - wanted) ** 2  # expect: NUM060
        return error[known].mean()


torch.manual_seed(0)
x = torch.randn(320, 12)
y = torch.stack([x[:, 0] - x[:, 1], x[:, 2] * x[:, 3]], 1)
y[200::7, 1] = float("nan")
model = nn.Sequential(nn.Linear(12, 32), nn.SiLU(), nn.Linear(32, 2))
criterion = MaskedError()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    for inputs, targets in DataLoader(TensorDataset(x, y), batch_size=32):
        loss = criterion(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
