"""Distillation with a log_target that does not fit."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
x = torch.randn(400, 8)
teacher = nn.Linear(8, 4).requires_grad_(False)
student = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
divergence = nn.KLDivLoss(reduction="batchmean", log_target=True)
optimizer = torch.optim.Adam(student.parameters(), lr=5e-3)
for epoch in range(4):
    for rows in torch.randperm(len(x)).split(40):
        soft_student = F.log_softmax(student(x[rows]), dim=1)
        soft_teacher = F.softmax(teacher(x[rows]), dim=1)
        loss = divergence(soft_student, soft_teacher)  # expect: LOS006
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
