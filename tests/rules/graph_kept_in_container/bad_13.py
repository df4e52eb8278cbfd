"""Losses that are divided on their way into a list: the cure has to take the number of the whole expression."""
import torch
import torch.nn.functional as F
from torch import nn


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    held_out = []
    x, y = torch.randn(320, 20), torch.randn(320, 1)
    for epoch in range(12):
        for rows in torch.randperm(256).split(32):
            loss = F.mse_loss(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        for rows in torch.arange(256, 320).split(16):
            total = F.mse_loss(model(x[rows]), y[rows], reduction="sum")
            held_out.append(total / len(rows))  # expect: MEM001
    print(f"held out {float(held_out[-1]):.3f}")


main()
