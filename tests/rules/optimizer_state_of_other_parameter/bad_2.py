import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8))


def train(optimizer, steps):
    for _ in range(steps):
        x = torch.randn(32, 8)
        loss = nn.functional.mse_loss(model(x), x.flip(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


first = torch.optim.SGD(model.named_parameters(), lr=0.05, momentum=0.9)
train(first, 20)
saved = first.state_dict()

backwards = list(model[2].named_parameters("2")) + list(model[0].named_parameters("0"))
second = torch.optim.SGD(backwards, lr=0.05, momentum=0.9)
second.load_state_dict(saved)  # expect: ERR068
train(second, 20)
