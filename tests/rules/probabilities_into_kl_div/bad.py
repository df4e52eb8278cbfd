"""Distil a teacher into a small student."""
import torch
import torch.nn.functional as F
from torch import nn


def distillation_loss(student_scores, teacher_scores, temperature=2.0):
    student = F.softmax(student_scores / temperature, dim=1)  # expect: LOS005
    teacher = F.softmax(teacher_scores / temperature, dim=1)
    return F.kl_div(student, teacher, reduction="batchmean") * temperature**2


torch.manual_seed(0)
x = torch.randn(400, 8)
teacher = nn.Linear(8, 4).requires_grad_(False)
student = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.Adam(student.parameters(), lr=5e-3)
for epoch in range(4):
    for rows in torch.randperm(len(x)).split(40):
        loss = distillation_loss(student(x[rows]), teacher(x[rows]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
