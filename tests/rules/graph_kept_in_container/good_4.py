"""Hints of a teacher's layer: a hook adds every feature map to a list, which each epoch empties."""

import torch
from torch import nn


class Tap:
    def __init__(self, layer):
        self.maps = []
        layer.register_forward_hook(self.keep)

    def keep(self, module, inputs, output):
        self.maps.append(output)


def distill(teacher, student, steps=120):
    teachers, students = Tap(teacher[0]), Tap(student[0])
    optimizer = torch.optim.Adam(student.parameters(), lr=1e-3)
    for step in range(steps):
        if step % 50 == 0:
            teachers.maps.clear()
            students.maps.clear()
        x, y = torch.randn(64, 32), torch.randint(0, 4, (64,))
        with torch.no_grad():
            teacher(x)
        loss = nn.functional.cross_entropy(student(x), y)
        loss = loss + nn.functional.mse_loss(students.maps[-1], teachers.maps[-1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


torch.manual_seed(0)
nets = [nn.Sequential(nn.Linear(32, 2048), nn.ReLU(), nn.Linear(2048, 4)) for _ in range(2)]
distill(nets[0].eval(), nets[1])
