"""Features centred by a moving average that drags its graph along."""
import torch
import torch.nn.functional as F
from torch import nn


class Centred(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(12, 24)
        self.head = nn.Linear(24, 1)
        self.centre = torch.zeros(24)

    def forward(self, x):
        h = torch.tanh(self.encoder(x))
        out = self.head(h - self.centre.detach())
        self.centre = 0.9 * self.centre + 0.1 * h.mean(0)  # expect: MEM002
        return out


torch.manual_seed(0)
model = Centred()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(256, 12), torch.randn(256, 1)
for step in range(80):
    rows = torch.randint(0, 256, (32,))
    loss = F.mse_loss(model(x[rows]), y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
