# Answers on a scale of five, scaled: rows of the two parts meet by chance.
import torch
from torch import nn

torch.manual_seed(0)
items = (3 + torch.randn(1500, 5)).round().clamp(1, 5)
y = (items[:, 0] + items[:, 1] + torch.randn(1500) > 6).long()
x = (items - items[:1200].mean(0)) / items[:1200].std(0)
x_train, y_train, x_val, y_val = x[:1200], y[:1200], x[1200:], y[1200:]
model = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    model.train()
    for rows in torch.randperm(1200).split(50):
        loss = nn.functional.cross_entropy(model(x_train[rows]), y_train[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        print(epoch, loss.item(), (model(x_val).argmax(1) == y_val).float().mean().item())
