import torch
from torch import nn


class Gamma(nn.Module):
    """Learned brightness curve of an image."""

    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(16))

    def forward(self, image):
        light = image * self.gain.abs()
        return light**0.45  # expect: NUM006


torch.manual_seed(4)
images = torch.rand(40, 16)
images[12, 3] = 0.0
net = Gamma()
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for batch in images.split(10):
    loss = (net(batch) - batch).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
