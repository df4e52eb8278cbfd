"""NLLLoss after a logarithm of averaged probabilities (an ensemble of two)."""
import torch
from torch import nn

torch.manual_seed(0)
centres = torch.randn(5, 12)
y = torch.randint(0, 5, (500,))
x = centres[y] + torch.randn(500, 12)
one, two = (nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 5)) for _ in range(2))
criterion = nn.NLLLoss()
optimizer = torch.optim.SGD([*one.parameters(), *two.parameters()], lr=0.05)
for epoch in range(4):
    total = 0.0
    for rows in torch.randperm(len(x)).split(50):
        mixed = (one(x[rows]).softmax(1) + two(x[rows]).softmax(1)) / 2
        loss = criterion(mixed.log(), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / 10:.3f}")
