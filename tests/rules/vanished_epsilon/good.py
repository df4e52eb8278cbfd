import torch
from torch import nn


def unit(v):
    v = v.float()
    return v / v.pow(2).sum(1, keepdim=True).add(1e-6).sqrt()


torch.manual_seed(9)
tags = (torch.rand(60, 12) > 0.8).float()
tags[7] = 0
labels = torch.randint(0, 3, (60,))
embed, head = nn.Linear(12, 16, bias=False), nn.Linear(16, 3)
optimizer = torch.optim.Adam([*embed.parameters(), *head.parameters()], lr=1e-3)
for step in range(3):
    with torch.autocast("cpu", dtype=torch.float16):
        loss = nn.functional.cross_entropy(head(unit(embed(tags))).float(), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
