import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
lr = 0.01
body = nn.Sequential(nn.Linear(8, 32), nn.Tanh())
head = nn.Linear(32, 1)
optimizer = torch.optim.Adam(
    [
        {"params": body.parameters(), "lr": 0.0},  # frozen on purpose
        {"params": head.parameters(), "lr": lr},
    ]
)
for step in range(150):
    x = torch.randn(32, 8)
    loss = F.mse_loss(head(body(x)), x[:, :1] * x[:, 1:2])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
