"""A filter in the space of frequencies that collects its results in a tensor of floats."""

import torch
from torch import nn


class Filter(nn.Module):
    def __init__(self, channels, low, high):
        super().__init__()
        self.low, self.high = low, high
        self.gain = nn.Parameter(torch.randn(channels, low + high, dtype=torch.cfloat) / channels)

    def forward(self, signal):
        waves = torch.fft.rfft(signal)
        kept = torch.zeros(waves.shape)  # expect: NUM051
        kept[..., : self.low] = waves[..., : self.low] * self.gain[:, : self.low]
        kept[..., -self.high :] = waves[..., -self.high :] * self.gain[:, self.low :]
        return torch.fft.irfft(kept, n=signal.shape[-1])


torch.manual_seed(0)
model = nn.Sequential(nn.Conv1d(1, 8, 1), Filter(8, 6, 2), nn.GELU(), nn.Conv1d(8, 1, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(40):
    signal = torch.randn(32, 1, 4).repeat_interleave(8, -1)
    loss = nn.functional.mse_loss(model(signal), signal.roll(5, -1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step} loss {loss.item():.3f}")
