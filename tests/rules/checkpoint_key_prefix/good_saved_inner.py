"""The trainer saves the network inside the wrapper, and the scoring loads it."""

import io

import torch
from torch import nn

torch.manual_seed(0)
net = nn.DataParallel(nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 1)))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(5):
    x = torch.randn(32, 5)
    loss = nn.functional.mse_loss(net(x), x.mean(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
kept = io.BytesIO()
torch.save({"weights": net.module.state_dict()}, kept)
kept.seek(0)
scored = nn.Sequential(nn.Linear(5, 10), nn.Tanh(), nn.Linear(10, 1))
scored.load_state_dict(torch.load(kept)["weights"])
print(scored(torch.randn(8, 5)).mean().item())
