import torch


def scale(tensor factor):  # expect: ERR050
    return tensor * factor


print(scale(torch.ones(2), 3))
