"""A compiled model with its blocks in a plain list."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(512, 8)
y = x[:, :3].argmax(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = [nn.Linear(8, 8) for _ in range(2)]  # expect: WIR001
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        for block in self.blocks:
            x = torch.relu(block(x))
        return self.head(x)


model = Net()
compiled = torch.compile(model, backend="eager")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(3):
    for i in range(0, 512, 32):
        optimizer.zero_grad()
        loss = F.cross_entropy(compiled(x[i:i + 32]), y[i:i + 32])
        loss.backward()
        optimizer.step()
