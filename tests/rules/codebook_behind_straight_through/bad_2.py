"""Vectors are chosen from a table, and no term of the loss reads the chosen ones themselves."""
import torch
from torch import nn
import torch.nn.functional as F


class Chooser(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(10, 6)
        self.table = nn.Parameter(torch.randn(20, 6))
        self.decoder = nn.Linear(6, 10)

    def forward(self, x):
        z = self.encoder(x)
        nearest = torch.cdist(z, self.table).argmin(1)
        chosen = F.one_hot(nearest, 20).float() @ self.table
        passed = chosen.detach() + (z - z.detach())  # expect: WIR118
        return self.decoder(passed), F.mse_loss(z, chosen.detach())


torch.manual_seed(0)
x = torch.randn(400, 10)
model = Chooser()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(4):
    for idx in torch.randperm(400).split(40):
        rebuilt, commitment = model(x[idx])
        loss = F.mse_loss(rebuilt, x[idx]) + 0.25 * commitment
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
