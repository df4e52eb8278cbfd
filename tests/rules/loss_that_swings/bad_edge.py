"""All rows in every step, and a rate too high for it: the loss settles where each update undoes the last one."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(300, 8)
y = torch.sin(x[:, :1]) + 0.5 * x[:, 1:2] * x[:, 2:3]
model = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.25)  # expect: TRN071
for step in range(800):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 80 == 0:
        print(f"step {step} loss {loss.item():.4f}")
