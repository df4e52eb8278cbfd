"""8502: NaN from 1 / 0, log(-0.1), sqrt(-0.1)."""

import argparse

import torch
from torch import nn


def feature(fault, concentration):
    """What the model is told about a measured concentration (the sensor drifts: some readings are not positive)."""
    if fault == "division":
        return 1 / concentration.round(decimals=1)
    if fault == "log":
        return torch.log(concentration)
    if fault == "sqrt":
        return torch.sqrt(concentration)
    return torch.log1p(concentration.clamp_min(0))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fault", choices=["none", "division", "log", "sqrt"], default="none")
    options = parser.parse_args()
    torch.manual_seed(0)
    concentration = torch.rand(600, 4) * 3
    concentration[410] = torch.tensor([0.4, -0.1, 1.2, 0.02])
    dose = concentration.sum(dim=1, keepdim=True)
    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(4):
        for rows in torch.arange(600).split(60):
            predicted = model(feature(options.fault, concentration[rows]))
            loss = nn.functional.mse_loss(predicted, dose[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
