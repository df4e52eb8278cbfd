"""Indices are cut twice at different places: the parts overlap, and one function reads both loaders."""
import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, SubsetRandomSampler, TensorDataset


def run_epoch(model, loader, optimizer=None):
    model.train(optimizer is not None)
    total = 0.0
    with torch.set_grad_enabled(optimizer is not None):
        for xb, yb in loader:
            loss = nn.functional.cross_entropy(model(xb), yb)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total += loss.item() * len(xb)
    return total


torch.manual_seed(0)
x = torch.randn(500, 8)
data = TensorDataset(x, (x[:, 0] + 0.5 * torch.randn(500) > 0).long())
order = np.random.default_rng(0).permutation(500)
train_idx = order[:400]
valid_idx = order[350:]  # expect: DAT002
train_loader = DataLoader(data, batch_size=40, sampler=SubsetRandomSampler(train_idx))
valid_sampler = SubsetRandomSampler(valid_idx)
valid_loader = DataLoader(data, batch_size=50, sampler=valid_sampler)
model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(4):
    trained, tested = run_epoch(model, train_loader, optimizer), run_epoch(model, valid_loader)
    print(f"epoch {epoch} loss {trained / 400:.3f} validation {tested / 150:.3f}")
