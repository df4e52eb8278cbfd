import torch
from torch import nn


def tower(depth, width=32):
    layers = [part for _ in range(depth) for part in (nn.Linear(width, width), nn.Sigmoid())]  # expect: TRN005
    return nn.Sequential(*layers, nn.Linear(width, 3))


torch.manual_seed(0)
x = torch.randn(600, 32)
label = (x[:, 0] > 0).long() + (x[:, 1] > 0.5).long()
model = tower(depth=14)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(8):
    for rows in torch.randperm(600).split(60):
        loss = nn.functional.cross_entropy(model(x[rows]), label[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
