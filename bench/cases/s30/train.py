import copy
import resource
import torch
import torch.nn as nn
import torch.nn.functional as F


def encoder(width=512):
    return nn.Sequential(nn.Linear(64, width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 32))


class SelfDistill(nn.Module):
    def __init__(self, momentum=0.99, center_momentum=0.9):
        super().__init__()
        self.student = encoder()
        self.teacher = copy.deepcopy(self.student)
        self.m, self.cm = momentum, center_momentum
        self.center = torch.zeros(1, 32)

    def update_center(self, out):
        self.center = self.cm * self.center + (1 - self.cm) * out.mean(0, keepdim=True)

    @torch.no_grad()
    def update_teacher(self):
        for s, t in zip(self.student.parameters(), self.teacher.parameters()):
            t.lerp_(s, 1 - self.m)

    def forward(self, view1, view2):
        target = self.teacher(view1)
        probs = F.softmax((target - self.center) / 0.04, dim=-1).detach()
        self.update_center(target)
        return -(probs * F.log_softmax(self.student(view2) / 0.1, dim=-1)).sum(-1).mean()


def views(n):
    base = torch.randn(n, 8) @ basis
    return base + 0.1 * torch.randn_like(base), base + 0.1 * torch.randn_like(base)


torch.manual_seed(0)
basis = torch.randn(8, 64)
model = SelfDistill()
optimizer = torch.optim.AdamW(model.student.parameters(), lr=1e-4)
for step in range(1, 121):
    loss = model(*views(192))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.update_teacher()
    if step % 20 == 0:
        rss = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"step {step} loss {loss.item():.4f} peak memory {rss:.0f} MB")
