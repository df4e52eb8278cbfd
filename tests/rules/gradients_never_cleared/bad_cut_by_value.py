"""Gradients of two half batches are cut by value before each step, and nothing clears them after it."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(384, 8)
y = (x[:, :1] * x[:, 1:2]).sin()
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=1e-2)
for epoch in range(4):
    for idx in torch.randperm(384).split(48):
        for half in idx.chunk(2):
            loss = F.mse_loss(model(x[half]), y[half]) / 2
            loss.backward()  # expect: WIR014
        torch.nn.utils.clip_grad_value_(model.parameters(), 0.02)
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
