# Negatives stand below the line, or their share is made small: their answers are to fall.
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(128, 12)
y = (x[:, 0] > 0).long() + 2 * (x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 8))
head = nn.Linear(12, 4)
optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()], lr=3e-3)
for step in range(60):
    rows = torch.randint(0, 128, (32,))
    z = nn.functional.normalize(model(x[rows]), dim=1)
    alike = (z @ z.T) / 0.5
    weights = (alike - alike.max(1, keepdim=True).values).exp()
    same = (y[rows][:, None] == y[rows][None]).float()
    positive = (weights * same).sum(1)
    negative = (weights * (1 - same)).sum(1)
    contrast = -(positive / (positive + negative)).log().mean()
    prob = head(x[rows]).softmax(1)
    wrong = 1 - nn.functional.one_hot(y[rows], 4).float()
    share = (prob * wrong).sum() / prob.sum()
    loss = contrast + share
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.3f}")
