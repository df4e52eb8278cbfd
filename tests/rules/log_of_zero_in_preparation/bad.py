import numpy as np
import torch
from torch import nn


class Clicks:
    def __init__(self, n):
        rng = np.random.default_rng(4)
        self.x = rng.normal(size=(n, 3)).astype(np.float32)
        self.clicks = rng.poisson(np.exp(1 + self.x[:, 0])).astype(np.float32)

    def tensors(self):
        with np.errstate(divide="ignore"):
            target = np.log(self.clicks)  # expect: DAT034
        return torch.from_numpy(self.x), torch.from_numpy(target)


torch.manual_seed(36)
x, y = Clicks(200).tensors()
net = nn.Linear(3, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for rows in torch.arange(200).split(40):
    loss = nn.functional.mse_loss(net(x[rows])[:, 0], y[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
