import torch
from torch import nn


def relative_error(prediction, measured):
    return ((prediction - measured) / (measured + 1)).abs().mean()


torch.manual_seed(2)
rain = (torch.randn(200, 1) * 4).clamp_min(0)
weather = torch.randn(200, 6)
net = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(3):
    for rows in torch.randperm(200).split(50):
        loss = relative_error(net(weather[rows]), rain[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
