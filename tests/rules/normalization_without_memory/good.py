import torch
from torch import nn


def block(inputs, outputs):
    norm = nn.BatchNorm1d(outputs, momentum=0.01)
    return nn.Sequential(nn.Linear(inputs, outputs), norm, nn.ReLU())


torch.manual_seed(0)
x = torch.randn(640, 12)
y = (x @ torch.randn(12, 3)).argmax(1)
model = nn.Sequential(block(12, 32), block(32, 32), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(2):
    model.train()
    for rows in torch.randperm(640).split(32):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = (model(x).argmax(1) == y).float().mean()
    print(f"epoch {epoch} accuracy {right:.3f}")
