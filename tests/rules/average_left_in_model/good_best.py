import copy

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(1000, 5)
y = x.pow(2).sum(1, keepdim=True)
model = nn.Sequential(nn.Linear(5, 32), nn.SiLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=5e-2)
best, best_state = float("inf"), copy.deepcopy(model.state_dict())
for epoch in range(10):
    for rows in torch.randperm(800).split(40):
        loss = nn.functional.mse_loss(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        validation = nn.functional.mse_loss(model(x[800:]), y[800:]).item()
    model.train()
    if validation < best:
        best, best_state = validation, copy.deepcopy(model.state_dict())
    else:
        # Back to the best weights on purpose, at a lower rate.
        last_state = copy.deepcopy(model.state_dict())
        model.load_state_dict(best_state)
        optimizer.param_groups[0]["lr"] *= 0.5
    print(f"epoch {epoch} loss {loss.item():.3f} validation {validation:.3f}")
