import argparse

import torch
import torch.nn.functional as F
from torch import nn


def build_optimizer(model, args):
    decay = [p for p in model.parameters() if p.ndim > 1]
    plain = [p for p in model.parameters() if p.ndim == 1]
    groups = [{"params": decay, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=args.lr * args.num_workers)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--num_workers", type=int, default=8)
    args = parser.parse_args([])
    torch.manual_seed(0)
    print(f"{args.num_workers} workers, lr {args.lr} each")
    model = nn.Sequential(nn.Linear(10, 64), nn.Tanh(), nn.Linear(64, 1))
    optimizer = build_optimizer(model, args)
    for step in range(200):
        x = torch.randn(16 * args.num_workers, 10)
        loss = F.mse_loss(model(x).squeeze(1), x[:, 0] * x[:, 1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"lr {optimizer.param_groups[0]['lr']:.4f} loss {loss.item():.3f}")


main()
