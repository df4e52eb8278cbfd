"""Zero heads whose part of the loss waits for its turn, and a gate at 0 before a branch that is not."""

import torch
from torch import nn

torch.manual_seed(0)
body, branch = nn.Sequential(nn.Linear(8, 24), nn.ReLU()), nn.Linear(24, 24)
gate = nn.Parameter(torch.zeros(24))
main, shift, extra = nn.Linear(24, 1), nn.Linear(24, 24), nn.Linear(24, 1)
for layer in (shift, extra):
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
parts = nn.ModuleList([body, branch, main, shift, extra])
optimizer = torch.optim.Adam([*parts.parameters(), gate], lr=3e-3)
x = torch.randn(512, 8)
y, z = x[:, :1] * x[:, 1:2], x[:, 2:3].abs()
for epoch in range(6):
    weight = 0.0 if epoch < 3 else 0.5
    for rows in torch.randperm(512).split(32):
        h = body(x[rows])
        h = h + gate * branch(h)
        aside = nn.functional.mse_loss(extra(h + shift(h)), z[rows])
        loss = nn.functional.mse_loss(main(h), y[rows]) + weight * aside
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
