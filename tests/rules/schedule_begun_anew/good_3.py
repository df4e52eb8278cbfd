"""A second phase with a schedule of its own, shorter and from a lower rate."""
import os
import tempfile

import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x = torch.randn(600, 8)
y = (x[:, 0] * x[:, 1] > 0).long()


def build():
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    return model, optimizer, torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=10)


def train(model, optimizer, scheduler, epochs):
    for _ in range(epochs):
        for rows in torch.randperm(len(x)).split(50):
            loss = F.cross_entropy(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        scheduler.step()
        print(f"loss {loss.item():.3f} lr {scheduler.get_last_lr()[0]:.5f}")


with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "last.pt")
    model, optimizer, scheduler = build()
    train(model, optimizer, scheduler, 5)
    torch.save({"model": model.state_dict(), "opt": optimizer.state_dict(), "sched": scheduler.state_dict()}, path)
    model, optimizer, scheduler = build()
    checkpoint = torch.load(path, weights_only=True)
model.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["opt"])
for group in optimizer.param_groups:
    group["lr"] = group["initial_lr"] = 1e-3
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=5)
train(model, optimizer, scheduler, 5)
