"""A denoising autoencoder: a function adds the noise to the very tensor that the answer is compared with."""

import torch
from torch import nn


def with_noise(signal, strength):
    noise = torch.randn_like(signal)
    signal += strength * noise  # expect: LOS103
    return signal


def main():
    torch.manual_seed(0)
    signals = torch.sin(torch.rand(600, 1) * 6 + torch.linspace(0, 6, 24))
    coder = nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, 24))
    optimizer = torch.optim.Adam(coder.parameters(), lr=3e-3)
    distance = nn.MSELoss()
    for epoch in range(4):
        for rows in torch.randperm(600).split(50):
            signal = signals[rows]
            noisy = with_noise(signal, 0.5)
            loss = distance(coder(noisy), signal)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}")


main()
