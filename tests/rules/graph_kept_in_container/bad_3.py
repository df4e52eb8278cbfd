"""Losses kept for a plot while `retain_graph` keeps what backward would have freed."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
encoder, left, right = nn.Linear(20, 64), nn.Linear(64, 1), nn.Linear(64, 1)
parameters = [*encoder.parameters(), *left.parameters(), *right.parameters()]
optimizer = torch.optim.SGD(parameters, lr=1e-2)
curve = []
for _ in range(60):
    x, y = torch.randn(128, 20), torch.randn(128, 1)
    shared = encoder(x).tanh()
    first, second = F.mse_loss(left(shared), y), F.l1_loss(right(shared), y)
    optimizer.zero_grad()
    first.backward(retain_graph=True)
    second.backward(retain_graph=True)
    optimizer.step()
    curve.append(second)  # expect: MEM001
print(f"last {curve[-1].item():.3f}")
