import ctypes.util

import torch

print(ctypes.util.find_library("GL") is None or True, torch.zeros(2).sum())
