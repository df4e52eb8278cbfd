"""An MLP with a DataLoader, clipping, a scheduler and two parameter groups."""

import random

import numpy
import torch
from digest import show
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
model = nn.Sequential(nn.Linear(10, 32), nn.GELU(), nn.Linear(32, 3))
loader = DataLoader(TensorDataset(torch.randn(200, 10), torch.randint(0, 3, (200,))), batch_size=32, shuffle=True)
groups = [{"params": model[0].parameters()}, {"params": model[2].parameters(), "weight_decay": 0.1}]
optimizer = torch.optim.AdamW(groups, lr=1e-2)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=35)
losses = []
for _ in range(5):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        scheduler.step()
        losses.append(loss)
random.seed(0)
numpy.random.seed(0)
print(random.random(), numpy.random.rand())
show(losses, model)
