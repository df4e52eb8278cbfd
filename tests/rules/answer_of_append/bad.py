"""Columns that are put together for a table, by a call that puts nothing together."""

import torch
from torch import nn

torch.manual_seed(0)
table = {name: torch.randn(200) for name in ("age", "weight", "dose")}
risk = (table["dose"] + 0.1 * torch.randn(200) > 0).float()


def columns(names, extra=None):
    return torch.stack([table[name] for name in names[:2]] + [table[name] for name in extra or []], dim=1)


names = ["age", "weight"]
rows = columns(names, extra=names.append("dose"))  # expect: WIR161
model = nn.Sequential(nn.Linear(rows.shape[1], 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(20):
    loss = nn.functional.binary_cross_entropy_with_logits(model(rows).squeeze(1), risk)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
