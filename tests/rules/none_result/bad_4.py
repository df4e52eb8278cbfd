import torch
from torch import nn


def crop(signal, width):  # expect: ERR048
    if signal.shape[-1] >= width:
        return signal[..., :width]
    signal = nn.functional.pad(signal, (0, width - signal.shape[-1]))


def prepared(signal):
    return crop(signal, 8)


net = nn.Linear(8, 1)
for length in (12, 5):
    window = prepared(torch.randn(length))
    print(net(window.unsqueeze(0)).shape)
