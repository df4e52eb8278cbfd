"""The same file with a rare class: a random batch may lack it, and that is fine."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
centres = 2 * torch.randn(8, 10)
y = torch.cat([torch.arange(7).repeat_interleave(110), torch.full((30,), 7)])
x = centres[y] + torch.randn(800, 10)
model = nn.Sequential(nn.Linear(10, 48), nn.ReLU(), nn.Linear(48, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(6):
    for rows in torch.randperm(len(x)).split(40):
        loss = F.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
