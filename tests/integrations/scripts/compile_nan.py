"""A compiled model divides by the norm of rows, one of which is all 0."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
x[400] = 0
y = x[:, :3].argmax(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))

    def forward(self, x):
        unit = x / x.norm(dim=1, keepdim=True)  # expect: NUM033
        return self.body(unit)


model = Net()
compiled = torch.compile(model, backend="eager")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(2):
    for i in range(0, 512, 32):
        optimizer.zero_grad()
        loss = F.cross_entropy(compiled(x[i:i + 32]), y[i:i + 32])
        loss.backward()
        optimizer.step()
