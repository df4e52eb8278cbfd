import ctypes

import torch


def mean_of(address, n):
    buffer = (ctypes.c_float * n).from_address(address)
    return sum(buffer) / n


torch.manual_seed(0)
x = torch.randn(8)
print(mean_of(x.data_ptr(), 8))
