import torch
from torch import nn


class Standardise(nn.Module):
    def forward(self, x):
        mean = x.mean(dim=1, keepdim=True)
        std = x.std(dim=1, keepdim=True)
        return (x - mean) / std  # expect: NUM004


torch.manual_seed(0)
frames = torch.rand(64, 32)
frames[10] = 0.0
labels = torch.randint(0, 2, (64,))
net = nn.Sequential(Standardise(), nn.Linear(32, 2))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for start in range(0, 64, 16):
    loss = nn.functional.cross_entropy(net(frames[start : start + 16]), labels[start : start + 16])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
