"""A teacher in a wrapper of its own, in training mode until the one evaluation at the end."""

import copy

import torch
from torch import nn


class Teacher(nn.Module):
    def __init__(self, student):
        super().__init__()
        self.body = copy.deepcopy(student)

    @torch.no_grad()
    def follow(self, student, keep=0.95):
        for mine, its in zip(self.body.parameters(), student.parameters(), strict=True):
            mine.lerp_(its, 1 - keep)  # expect: WIR085

    def forward(self, x):
        return self.body(x).softmax(-1)


torch.manual_seed(0)
x = 5 + 3 * torch.randn(640, 12)
y = ((x - 5) @ torch.randn(12, 3)).argmax(1)
student = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 3))
teacher = Teacher(student)
optimizer = torch.optim.Adam(student.parameters(), lr=3e-3)
for _epoch in range(4):
    for rows in torch.randperm(640).split(32):
        loss = nn.functional.cross_entropy(student(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        teacher.follow(student)
teacher.eval()
with torch.no_grad():
    print("teacher", (teacher(x).argmax(1) == y).float().mean().item())
