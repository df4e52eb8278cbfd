"""Moved first, then flattened; and once given as it is."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
signal = torch.randn(200, 1, 20)
labels = (signal.squeeze(1) > 0.5).long() + (signal.squeeze(1) > -0.5).long()
model = nn.Sequential(nn.Conv1d(1, 16, 5, padding=2), nn.ReLU(), nn.Conv1d(16, 3, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(3):
    for rows in torch.randperm(len(signal)).split(20):
        scores = model(signal[rows])
        loss = F.cross_entropy(scores.permute(0, 2, 1).reshape(-1, 3), labels[rows].reshape(-1))
        loss = loss + F.cross_entropy(scores, labels[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
