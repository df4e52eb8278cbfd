# stuck after 0.5 s
import socket

import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
ours, theirs = socket.socketpair()


def report(loss):
    ours.sendall(f"{loss}\n".encode())
    return ours.recv(64)  # expect: RNK004


for step in range(10):
    loss = model(torch.randn(8, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step > 5:
        report(loss.item())
