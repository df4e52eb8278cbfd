"""DDPM on 64 x 64 images: U-Net with time embedding and attention, EMA of the weights, bf16 autocast."""

import copy
import math

import torch
from torch import nn
from torch.nn import functional as F

BATCH, STEPS = 16, 1000
device = "cuda" if torch.cuda.is_available() else "cpu"


class Res(nn.Module):
    def __init__(self, cin, cout, temb=256):
        super().__init__()
        self.n1, self.c1 = nn.GroupNorm(8, cin), nn.Conv2d(cin, cout, 3, padding=1)
        self.t = nn.Linear(temb, cout)
        self.n2, self.c2 = nn.GroupNorm(8, cout), nn.Conv2d(cout, cout, 3, padding=1)
        self.skip = nn.Conv2d(cin, cout, 1) if cin != cout else nn.Identity()

    def forward(self, x, t):
        h = self.c1(F.silu(self.n1(x))) + self.t(F.silu(t))[:, :, None, None]
        return self.c2(F.silu(self.n2(h))) + self.skip(x)


class SelfAttention(nn.Module):
    def __init__(self, c, heads=4):
        super().__init__()
        self.norm, self.qkv, self.out, self.heads = (
            nn.GroupNorm(8, c),
            nn.Conv2d(c, 3 * c, 1),
            nn.Conv2d(c, c, 1),
            heads,
        )

    def forward(self, x):
        b, c, h, w = x.shape
        q, k, v = self.qkv(self.norm(x)).reshape(b, 3, self.heads, c // self.heads, h * w).transpose(-1, -2).unbind(1)
        y = F.scaled_dot_product_attention(q, k, v).transpose(-1, -2).reshape(b, c, h, w)
        return x + self.out(y)


class UNet(nn.Module):
    def __init__(self, ch=64):
        super().__init__()
        self.temb = nn.Sequential(nn.Linear(ch, 256), nn.SiLU(), nn.Linear(256, 256))
        self.ch = ch
        self.inp = nn.Conv2d(3, ch, 3, padding=1)
        self.d1, self.d2, self.d3 = Res(ch, ch), Res(ch, 2 * ch), Res(2 * ch, 4 * ch)
        self.m1, self.ma, self.m2 = Res(4 * ch, 4 * ch), SelfAttention(4 * ch), Res(4 * ch, 4 * ch)
        self.u3, self.u2, self.u1 = Res(8 * ch, 2 * ch), Res(4 * ch, ch), Res(2 * ch, ch)
        self.out = nn.Conv2d(ch, 3, 3, padding=1)

    def forward(self, x, t):
        f = torch.exp(-math.log(10000) * torch.arange(self.ch // 2, device=x.device) / (self.ch // 2))
        e = t[:, None].float() * f[None]
        e = self.temb(torch.cat([e.sin(), e.cos()], -1))
        a = self.d1(self.inp(x), e)
        b = self.d2(F.avg_pool2d(a, 2), e)
        c = self.d3(F.avg_pool2d(b, 2), e)
        h = self.m2(self.ma(self.m1(c, e)), e)
        h = F.interpolate(self.u3(torch.cat([h, c], 1), e), scale_factor=2)
        h = F.interpolate(self.u2(torch.cat([h, b], 1), e), scale_factor=2)
        return self.out(self.u1(torch.cat([h, a], 1), e))


torch.manual_seed(0)
net = UNet().to(device)
ema = copy.deepcopy(net).eval().requires_grad_(False)
opt = torch.optim.AdamW(net.parameters(), lr=2e-4)
betas = torch.linspace(1e-4, 0.02, STEPS)
abar = torch.cumprod(1 - betas, 0).to(device)
for step in range(6):
    x0 = torch.rand(BATCH, 3, 64, 64).to(device) * 2 - 1
    t = torch.randint(0, STEPS, (BATCH,), device=device)
    noise = torch.randn_like(x0)
    a = abar[t].view(-1, 1, 1, 1)
    with torch.autocast("cuda", dtype=torch.bfloat16):
        loss = F.mse_loss(net(a.sqrt() * x0 + (1 - a).sqrt() * noise, t), noise)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    opt.step()
    with torch.no_grad():
        for pe, pn in zip(ema.parameters(), net.parameters(), strict=False):
            pe.mul_(0.999).add_(pn, alpha=0.001)
    if step % 2 == 0:
        print(step, loss.item())
