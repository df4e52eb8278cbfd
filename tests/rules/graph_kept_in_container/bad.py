"""Early stopping that remembers validation losses as tensors."""
import torch
import torch.nn.functional as F
from torch import nn


class History:
    def __init__(self):
        self.values = []

    def add(self, value):
        self.values.append(value)

    def best(self):
        return min(float(v) for v in self.values)


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    history = History()
    x, y = torch.randn(320, 20), torch.randn(320, 1)
    for epoch in range(12):
        for rows in torch.randperm(256).split(32):
            loss = F.mse_loss(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        for rows in torch.arange(256, 320).split(16):
            held_out = F.mse_loss(model(x[rows]), y[rows])
            history.add(held_out)  # expect: MEM001
    print(f"best {history.best():.3f}")


main()
