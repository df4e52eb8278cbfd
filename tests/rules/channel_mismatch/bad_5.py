import torch
from torch import nn


class DoubleConv(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1), nn.ReLU(), nn.Conv2d(cout, cout, 3, padding=1))

    def forward(self, x):
        return self.net(x)


class Up(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.up = nn.Upsample(scale_factor=2)
        self.conv = DoubleConv(cin, cout)

    def forward(self, x, skip):
        return self.conv(torch.cat([self.up(x), skip], 1))


class UNet(nn.Module):
    def __init__(self, base=8):
        super().__init__()
        self.d1, self.d2 = DoubleConv(1, base), DoubleConv(base, 2 * base)
        self.pool = nn.MaxPool2d(2)
        self.mid = DoubleConv(2 * base, 4 * base)
        self.u2 = Up(6 * base, 2 * base)
        self.u1 = Up(  # expect: ERR003
            2 * base,
            base,
        )
        self.out = nn.Conv2d(base, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(self.pool(a))
        m = self.mid(self.pool(b))
        return self.out(self.u1(self.u2(m, b), a))


UNet()(torch.randn(2, 1, 32, 32))
