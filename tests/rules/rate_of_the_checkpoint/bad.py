"""A second task with a rate of its own, from the checkpoint of a training whose rate had come down."""

import torch
from torch import nn
from torch.optim.lr_scheduler import StepLR


def samples(turn):
    x = torch.randn(640, 8, generator=torch.Generator().manual_seed(1))
    return x, torch.sin(x.roll(turn, 1)[:, :2]).sum(1, keepdim=True)


def train(model, optimizer, x, y, epochs, scheduler=None):
    for epoch in range(epochs):
        for rows in torch.randperm(len(x)).split(64):
            loss = nn.functional.mse_loss(model(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if scheduler is not None:
            scheduler.step()
    print(f"loss {loss.item():.4f}")


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 1))
first = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
train(model, first, *samples(0), 6, StepLR(first, 1, gamma=0.3))
torch.save({"model": model.state_dict(), "optimizer": first.state_dict()}, "first.pt")

checkpoint = torch.load("first.pt")
model.load_state_dict(checkpoint["model"])
tuned = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
tuned.load_state_dict(checkpoint["optimizer"])  # expect: TRN065
train(model, tuned, *samples(3), 6)
