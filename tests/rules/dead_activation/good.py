"""Sparse codes: most outputs of the ReLU are 0 on purpose, not all."""
import torch
from torch import nn


class Sparse(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(10, 64)
        self.decode = nn.Linear(64, 10)
        nn.init.constant_(self.encode.bias, -0.8)

    def forward(self, x):
        code = torch.relu(self.encode(x))
        return self.decode(code), code


torch.manual_seed(0)
x = torch.randn(500, 10)
model = Sparse()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    for rows in torch.randperm(len(x)).split(50):
        rebuilt, code = model(x[rows])
        loss = nn.functional.mse_loss(rebuilt, x[rows]) + 0.01 * code.abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
