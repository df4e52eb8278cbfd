"""A linear classifier with NLLLoss and no log-softmax."""
import torch
from torch import nn

torch.manual_seed(0)
centres = torch.randn(5, 12)
y = torch.randint(0, 5, (500,))
x = centres[y] + torch.randn(500, 12)
model = nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 5))
criterion = nn.NLLLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(4):
    total = 0.0
    for rows in torch.randperm(len(x)).split(50):
        output = model(x[rows])
        loss = criterion(output, y[rows])  # expect: LOS004
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / 10:.3f}")
