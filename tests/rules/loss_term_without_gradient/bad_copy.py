"""A penalty on the answers is wrapped in a tensor of its own, to be safe, and added to the loss."""

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(512, 12)
y = (x[:, 0] - x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)


def sureness(logits):
    shares = logits.softmax(1)
    return (shares * shares.log()).sum(1).mean()


for epoch in range(6):
    for rows in torch.randperm(512).split(64):
        logits = model(x[rows])
        penalty = torch.tensor(sureness(logits))  # expect: WIR011
        loss = F.cross_entropy(logits, y[rows]) + 0.1 * penalty
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
