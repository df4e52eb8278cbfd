from pathlib import Path

import torch
from torch import nn

inbox = Path("inbox.txt")
if not Path("started").exists():
    inbox.write_text("0.1 0.2 0.1 0.2")
    Path("started").touch()


def next_offset():
    """A correction that another process leaves in a file."""
    waiting = inbox.read_text().split()
    inbox.write_text(" ".join(waiting[1:]))
    return float(waiting[0]) if waiting else 0.0


torch.manual_seed(41)
x, y = torch.randn(64, 4), torch.randn(64, 1)
net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
for step in range(6):
    loss = nn.functional.mse_loss(net(x) + next_offset(), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
