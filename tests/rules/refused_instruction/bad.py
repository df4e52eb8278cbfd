"""Stands for a virtual machine without the instructions it promises: the layer ends the process unless told not to."""
import os
import signal

import torch
from torch import nn

torch.manual_seed(0)


class HalfLayer(nn.Linear):
    def forward(self, x):
        if os.environ.get("ONEDNN_MAX_CPU_ISA") != "AVX2":
            os.kill(os.getpid(), signal.SIGILL)  # expect: ENV017
        return super().forward(x)


layer = HalfLayer(4, 1)
optimizer = torch.optim.SGD(layer.parameters(), lr=0.01)
for _ in range(20):
    x = torch.randn(16, 4)
    loss = (layer(x).squeeze(1) - x[:, 0]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("trained")
