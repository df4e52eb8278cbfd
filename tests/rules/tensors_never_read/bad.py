"""Features of every batch, remembered by step, for a figure that was never drawn."""

import torch
from torch import nn

torch.manual_seed(0)
images, digits = torch.randn(2048, 64), torch.randint(0, 10, (2048,))
body, head = nn.Sequential(nn.Linear(64, 256), nn.ReLU()), nn.Linear(256, 10)
optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=1e-3)
seen = {}
step = 0
for epoch in range(4):
    for start in range(0, 2048, 64):
        features = body(images[start : start + 64])
        seen[step] = features.detach().clone()  # expect: MEM013
        loss = nn.functional.cross_entropy(head(features), digits[start : start + 64])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
    print(epoch, loss.item())
