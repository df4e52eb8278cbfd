import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(64, 6)
y = (x.sum(1) > 0).float()
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(3):
    logits = model(x).squeeze(1)
    loss = nn.functional.binary_cross_entropy_with_logits(logits, y),  # fmt: skip # expect: ERR024
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
