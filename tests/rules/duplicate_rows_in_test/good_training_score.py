import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(400, 6)
y = (x[:, 0] * x[:, 1] > 0).long()
model = nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)

for epoch in range(6):
    order = torch.randperm(400)
    for rows in order.split(50):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        score = (model.eval()(x).argmax(1) == y).float().mean().item()
        model.train()
    print(f"epoch {epoch}: loss {loss.item():.3f}, right on what it was trained on {score:.3f}")
