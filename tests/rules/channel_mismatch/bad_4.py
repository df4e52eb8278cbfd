import torch
from torch import nn


def block(inside, outside):
    return nn.Sequential(nn.Conv2d(inside, outside, 3, padding=1), nn.ReLU())


class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.middle = block(1, 8), block(8, 16), block(16, 32)
        self.pool = nn.MaxPool2d(2)
        self.up2 = nn.ConvTranspose2d(32, 16, 2, stride=2)
        self.join2 = block(32, 16)
        self.up1 = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.join1 = block(8, 8)  # expect: ERR003
        self.out = nn.Conv2d(8, 1, 1)

    def forward(self, x):
        a = self.first(x)
        b = self.second(self.pool(a))
        m = self.middle(self.pool(b))
        z = self.join2(torch.cat([self.up2(m), b], 1))
        z = self.join1(torch.cat([self.up1(z), a], 1))
        return self.out(z)


torch.manual_seed(0)
net = UNet()
opt = torch.optim.Adam(net.parameters())
x, t = torch.randn(2, 1, 32, 32), (torch.rand(2, 1, 32, 32) > 0.5).float()
loss = nn.functional.binary_cross_entropy_with_logits(net(x), t)
loss.backward()
opt.step()
