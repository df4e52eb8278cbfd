import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([{"params": model[i].parameters()} for i in (0, 2, 4)], lr=0.01)
steps = 120
for step in range(steps):
    x = torch.randn(32, 8)
    loss = F.mse_loss(model(x), x[:, :1] * x[:, 1:2])
    optimizer.zero_grad()
    loss.backward()
    lr = 0.01 * (1 - step / steps) ** 0.9
    for group in range(len(optimizer.param_groups)):
        optimizer.param_groups[group]["lr"] = lr
    optimizer.step()
print(f"loss {loss.item():.3f}")
