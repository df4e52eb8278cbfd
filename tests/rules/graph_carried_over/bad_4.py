"""A cell with a slow memory of its own: the prediction has the long graph too, but it is the memory that goes on."""

import torch
from torch import nn


class Slow(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell, self.out = nn.GRUCell(4, 16), nn.Linear(16, 4)
        self.trace = torch.zeros(8, 16)

    def forward(self, reading):
        state = self.cell(reading, self.trace)
        self.trace = 0.9 * self.trace + 0.1 * state  # expect: MEM002
        return self.out(state)


torch.manual_seed(0)
readings = torch.randn(8, 121, 4)
model = Slow()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
for time in range(120):
    guess = model(readings[:, time])
    loss = (guess - readings[:, time + 1]).square().mean()
    model.zero_grad()
    loss.backward(retain_graph=True)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.data.sub_(1e-3 * parameter.grad)
