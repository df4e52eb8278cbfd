import torch
from torch import nn


def accuracy(answer, y):
    chosen = torch.round(torch.sigmoid(answer))
    return (chosen == y).sum().item() / len(y)  # expect: LOS063


torch.manual_seed(0)
x = torch.randn(640, 12)
y = (x @ torch.randn(12) > 0).float()
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(2):
    for rows in torch.randperm(640).split(32):
        answer = model(x[rows])
        loss = nn.functional.binary_cross_entropy_with_logits(answer, y[rows].unsqueeze(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        score = accuracy(answer, y[rows])
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy {score:.3f}")
