"""A running sum of losses that is a tensor."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.Linear(24, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(256, 12), torch.randn(256, 1)
total_loss = 0
for step in range(120):
    rows = torch.randint(0, 256, (32,))
    loss = F.mse_loss(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total_loss += loss  # expect: MEM002
print(f"mean loss {float(total_loss) / 120:.3f}")
