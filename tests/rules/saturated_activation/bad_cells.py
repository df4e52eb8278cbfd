"""Counts of a meter, in the hundred thousands, are fed to a cell one after the other."""
import torch
from torch import nn

torch.manual_seed(0)
counts = 250_000 + 60_000 * torch.randn(500, 8)
y = (counts[:, -1:] - 250_000) / 60_000


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(1, 20)  # expect: TRN004
        self.out = nn.Linear(20, 1)

    def forward(self, counts):
        state = None
        for at in range(counts.shape[1]):
            state = self.cell(counts[:, at : at + 1], state)
        return self.out(state[0])


model = Reader()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
for epoch in range(8):
    for rows in torch.randperm(len(counts)).split(50):
        loss = nn.functional.mse_loss(model(counts[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
