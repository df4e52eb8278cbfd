import numpy as np
import pandas as pd
import torch
from torch import nn


def load():
    rng = np.random.default_rng(1)
    n = 1200
    frame = pd.DataFrame({
        "length": rng.normal(50, 9, n),
        "width": rng.normal(20, 3, n),
        "mass": rng.normal(400, 80, n),
    })
    score = (frame.length - 50) / 9 + (frame.mass - 400) / 80
    frame["species"] = np.select([score < -0.6, score > 0.8], ["sprat", "pike"], "perch")
    return frame


def prepare(frame):
    x = frame.drop(columns="species")
    x = (x - x.mean()) / x.std()
    codes = frame["species"].astype("category").cat.codes
    return torch.tensor(x.values, dtype=torch.float32), torch.tensor(codes.values)


class FishNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(3, 24)
        self.b = nn.Linear(24, 3)

    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))


def main(epochs=4):
    torch.manual_seed(0)
    x, y = prepare(load())
    net = FishNet()
    opt = torch.optim.Adam(net.parameters(), lr=1e-2)
    for epoch in range(epochs):
        for part in torch.randperm(len(x)).split(60):
            logits = net(x[part])
            loss = nn.functional.cross_entropy(logits, y[part])
            opt.zero_grad()
            loss.backward()
            opt.step()
        acc = (net(x).argmax(1) == y).float().mean().item()
        print(f"{epoch} {loss.item():.4f} {acc:.3f}")


main()
