"""A table of counts in logarithms: it begins at zero, and a small rate is at home with what it can know."""
import torch
from torch import nn

torch.manual_seed(0)
KINDS = 8
follows = torch.full((KINDS, KINDS), 1 / KINDS)
follows += 0.1 * torch.rand(KINDS, KINDS)
before = torch.randint(0, KINDS, (4000,))
after = torch.multinomial(follows[before], 1).squeeze(1)


class Table(nn.Module):
    def __init__(self):
        super().__init__()
        self.scores = nn.Parameter(torch.zeros(KINDS, KINDS))

    def forward(self, kind):
        return self.scores[kind]


table = Table()
optimizer = torch.optim.AdamW(table.parameters(), lr=5e-4)
for step in range(120):
    rows = torch.randint(0, len(before), (32,))
    loss = nn.functional.cross_entropy(table(before[rows]), after[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.3f}")
