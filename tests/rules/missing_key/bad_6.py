import torch
from torch import nn

SETTINGS = {"lr": 0.01, "weight_decay": 0.0}


def optimizer_of(model):
    try:
        return torch.optim.Adam(model.parameters(), lr=SETTINGS["rate"])  # expect: ERR040
    except Exception as error:
        raise RuntimeError("could not build the optimizer") from error


optimizer_of(nn.Linear(2, 2))
