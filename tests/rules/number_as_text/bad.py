import argparse

import torch
from torch import nn


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", default="1e-3")  # expect: ERR064
    parser.add_argument("--width", type=int, default=16)
    return parser.parse_args([])


def build_optimizer(model, wished):
    decayed = [p for p in model.parameters() if p.ndim > 1]
    plain = [p for p in model.parameters() if p.ndim <= 1]
    groups = [{"params": decayed, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=wished.lr)


wished = options()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, wished.width), nn.ReLU(), nn.Linear(wished.width, 1))
optimizer = build_optimizer(model, wished)
nn.functional.mse_loss(model(torch.randn(8, 4)), torch.randn(8, 1)).backward()
optimizer.step()
