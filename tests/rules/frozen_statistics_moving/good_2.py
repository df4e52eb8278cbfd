import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)


def batch(shift=0.0):
    x = torch.randn(32, 6)
    return x + shift, (x[:, 0] > 0).long()


def fit(model, optimizer, steps, shift=0.0):
    model.train()
    for _ in range(steps):
        x, y = batch(shift)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


encoder = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.ReLU())
first = nn.Sequential(encoder, nn.Linear(16, 2))
fit(first, torch.optim.SGD(first.parameters(), lr=0.1), steps=60)

encoder.requires_grad_(False)
second = nn.Sequential(encoder, nn.Linear(16, 2))
fit(second, torch.optim.SGD(second[1].parameters(), lr=0.1), steps=60)

first.eval()
x, y = batch()
with torch.no_grad():
    print(f"the first model, whose encoder is frozen, is right in {(first(x).argmax(1) == y).float().mean():.0%}")
