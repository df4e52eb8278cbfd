from collections import deque

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
cell, actor = nn.LSTMCell(6, 32), nn.Linear(32, 3)
optimizer = torch.optim.Adam([*cell.parameters(), *actor.parameters()], lr=2e-3)
stored = deque(maxlen=16)
state = (torch.zeros(8, 32), torch.zeros(8, 32))


def collect(state, steps=8):
    for _ in range(steps):
        seen = torch.randn(8, 6)
        new_state = cell(seen, state)
        stored.append({"seen": seen, "h": state[0].detach(), "c": state[1].detach()})
        state = new_state  # expect: MEM002
    return state


def update():
    first, loss = stored[-8], 0.0
    inner = (first["h"], first["c"])
    for item in list(stored)[-8:]:
        inner = cell(item["seen"], inner)
        loss = loss + F.cross_entropy(actor(inner[0]), item["seen"][:, :3].argmax(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.item() / 8


for turn in range(60):
    state = collect(state)
    mean = update()
print(f"loss {mean:.3f}")
