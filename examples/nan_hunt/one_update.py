"""One update with NaN ruins a whole model: counts the weights that are left after a table with one empty cell."""

import io

import numpy as np
import torch
from torch import nn


def table(rows, columns):
    """Measurements as text, as they come from a device; one cell was never filled in."""
    rng = np.random.default_rng(0)
    lines = [",".join(f"{v:.3f}" for v in rng.normal(size=columns)) for _ in range(rows)]
    cells = lines[250].split(",")
    cells[3] = ""
    lines[250] = ",".join(cells)
    return "\n".join(lines)


def main():
    torch.manual_seed(0)
    values = np.genfromtxt(io.StringIO(table(400, 10)), delimiter=",", dtype=np.float32)
    features = torch.from_numpy(values)
    price = torch.from_numpy(np.nansum(values, axis=1, keepdims=True))
    model = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(3):
        for rows in torch.arange(400).split(40):
            loss = nn.functional.mse_loss(model(features[rows]), price[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.4f}")
    finite = sum(int(p.isfinite().sum()) for p in model.parameters())
    print(f"{finite} of {sum(p.numel() for p in model.parameters())} weights are numbers")


if __name__ == "__main__":
    main()
