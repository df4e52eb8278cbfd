"""A hook fills a list that only the hook itself can reach."""

import torch
from torch import nn


def watch(layer):
    norms = []

    def note(module, inputs, output):
        norms.append(output.norm())  # expect: MEM001
        if len(norms) % 60 == 0:
            print(norms[-1].item())

    layer.register_forward_hook(note)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 256), nn.Tanh(), nn.Linear(256, 1))
watch(model[0])
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(120):
    x = torch.randn(128, 16)
    loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
