import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
teacher, body, head = nn.Linear(6, 1), nn.Linear(6, 16), nn.Linear(16, 1)
for parameter in teacher.parameters():
    parameter.requires_grad = False
optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=1e-2, weight_decay=1e-2)


def train(steps):
    for _ in range(steps):
        x = torch.randn(32, 6)
        loss = F.mse_loss(head(torch.tanh(body(x))), teacher(x))
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.3f}")


train(40)
for parameter in body.parameters():
    parameter.requires_grad = False  # expect: WIR128
train(40)
