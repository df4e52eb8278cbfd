import torch
import torch.nn.functional as F
from torch import nn

T = 4.0


def net(width):
    return nn.Sequential(nn.Linear(8, width), nn.ReLU(), nn.Linear(width, 4))


torch.manual_seed(0)
x = torch.randn(640, 8)
teacher, student = net(64).requires_grad_(False), net(8)
optimizer = torch.optim.Adam(student.parameters(), lr=3e-3)
for epoch in range(3):
    for rows in torch.randperm(640).split(32):
        soft = F.softmax(teacher(x[rows]) / T, dim=1)
        logits = student(x[rows]) / T
        loss = F.kl_div(logits, soft, reduction="batchmean") * T * T  # expect: LOS060
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.3f}")
