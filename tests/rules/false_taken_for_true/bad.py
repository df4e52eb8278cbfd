"""The encoder is to be trained too, says the command line."""

import argparse

import torch
from torch import nn


def options(line):
    parser = argparse.ArgumentParser()
    parser.add_argument("--rate", type=float, default=1e-2)
    parser.add_argument("--batch-norm", type=bool, default=True)
    parser.add_argument("--freeze-encoder", type=bool, default=False)  # expect: WIR091
    return parser.parse_args(line.split())


wished = options("--rate 0.003 --freeze-encoder False --batch-norm True")
torch.manual_seed(0)
encoder, head = nn.Sequential(nn.Linear(8, 16), nn.ReLU()), nn.Linear(16, 1)
encoder.requires_grad_(not wished.freeze_encoder)
optimizer = torch.optim.Adam([p for p in [*encoder.parameters(), *head.parameters()] if p.requires_grad], lr=wished.rate)
for _ in range(30):
    x = torch.randn(32, 8)
    loss = (head(encoder(x)).squeeze(1) - x[:, 0]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
