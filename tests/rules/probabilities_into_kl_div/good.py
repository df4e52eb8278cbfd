"""Distillation both ways: log-probabilities first, and once with log_target."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(400, 8)
teacher = nn.Linear(8, 4).requires_grad_(False)
student = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.Adam(student.parameters(), lr=5e-3)
for epoch in range(4):
    for rows in torch.randperm(len(x)).split(40):
        ours = F.log_softmax(student(x[rows]) / 2.0, dim=1)
        theirs = F.log_softmax(teacher(x[rows]) / 2.0, dim=1)
        loss = F.kl_div(ours, theirs.exp(), reduction="batchmean")
        loss = loss + F.kl_div(ours, theirs, reduction="batchmean", log_target=True)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
