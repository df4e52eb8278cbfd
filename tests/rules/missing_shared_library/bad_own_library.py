"""Operators of one's own, which nobody has built yet."""
import torch

LIBRARY = "build/libtidal_ops.so"


def load_operators():
    torch.ops.load_library(LIBRARY)  # expect: ENV013


load_operators()
heights = torch.linspace(0.0, 1.0, 12)
print(torch.ops.tidal.smooth(heights))
