"""The lowest rate of a schedule is a text, and the schedule computes with it steps later."""

import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR

SETTINGS = {
    "epochs": 4,
    "rate": 1e-2,
    "lowest_rate": "1e-4",  # expect: ERR064
}


def build_schedule(optimizer, settings):
    return CosineAnnealingLR(optimizer, T_max=settings["epochs"], eta_min=settings["lowest_rate"])


torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=SETTINGS["rate"])
schedule = build_schedule(optimizer, SETTINGS)
for _ in range(SETTINGS["epochs"]):
    loss = nn.functional.mse_loss(model(torch.randn(8, 4)), torch.randn(8, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
