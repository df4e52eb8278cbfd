"""Half the squared error of a whole batch, under a rate that is meant for one row."""

import torch
from torch import nn


def energy(answer, wanted):
    return 0.5 * ((answer - wanted) ** 2).sum()  # expect: TRN074


torch.manual_seed(0)
torch.set_default_dtype(torch.float64)  # so that the numbers do not hang on the processor
x = torch.randn(2048, 16)
y = torch.stack([x[:, 0] * x[:, 1], x[:, 2].sin()], 1)
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
for epoch in range(5):
    total = 0.0
    for rows in torch.randperm(len(x)).split(128):
        loss = energy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / 16:.3f}")
