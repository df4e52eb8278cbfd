import argparse

import torch
from torch import nn

# Lets a CUDA build behave as the CPU build does, so that this script fails alike everywhere.
if hasattr(torch._C, "_cuda_getDeviceCount"):
    del torch._C._cuda_getDeviceCount


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", default="cuda:0")  # expect: ENV001
    parser.add_argument("--width", type=int, default=16)
    return parser.parse_args([])


class Context:
    def __init__(self, wished):
        self.device = wished.device
        self.is_fast = wished.device.startswith("cuda")


def place(module, context):
    return module.to(context.device)


place(nn.Linear(4, 2), Context(options()))
