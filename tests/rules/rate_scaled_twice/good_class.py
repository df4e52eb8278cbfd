import torch
import torch.nn.functional as F
from torch import nn


class ScaledSGD(torch.optim.SGD):
    def __init__(self, params, lr, world_size, **kwargs):
        super().__init__(params, lr=lr * world_size, **kwargs)


def train(base_lr, gpus):
    model = nn.Sequential(nn.Linear(10, 64), nn.Tanh(), nn.Linear(64, 1))
    accumulated = 8
    lr = base_lr * accumulated / 2
    optimizer = ScaledSGD(model.parameters(), lr=lr, world_size=gpus, momentum=0.9)
    for step in range(200):
        x = torch.randn(16 * gpus, 10)
        loss = F.mse_loss(model(x).squeeze(1), x[:, 0] + x[:, 1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"lr {optimizer.param_groups[0]['lr']:.4f} loss {loss.item():.3f}")


torch.manual_seed(0)
train(base_lr=0.001, gpus=8)
