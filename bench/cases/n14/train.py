import torch
import torch.nn as nn

torch.manual_seed(7)
Z, BATCH, DIM = 16, 64, 36


def crops(n):
    cx = torch.rand(n, 1, 1) * 2 + 1.5
    yy, xx = torch.meshgrid(torch.arange(6.0), torch.arange(6.0), indexing="ij")
    img = 140 * torch.exp(-((xx - cx) ** 2 + (yy - 2.5) ** 2) / 3) + 30 + 4 * torch.randn(n, 6, 6)
    return img.clamp(0, 255).flatten(1)


G = nn.Sequential(nn.Linear(Z, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, DIM))
D = nn.Sequential(nn.Linear(DIM, 64), nn.LeakyReLU(0.2), nn.Linear(64, 1), nn.Sigmoid())
opt_g = torch.optim.Adam(G.parameters(), lr=1e-2, betas=(0.5, 0.999))
opt_d = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.999))


def d_loss_fn(real, fake):
    return -(torch.log(D(real)) + torch.log(1 - D(fake))).mean()


def g_loss_fn(fake):
    return -torch.log(D(fake)).mean()


for step in range(400):
    with torch.no_grad():
        fake = G(torch.randn(BATCH, Z))
    d_loss = d_loss_fn(crops(BATCH), fake)
    opt_d.zero_grad()
    d_loss.backward()
    opt_d.step()

    g_loss = g_loss_fn(G(torch.randn(BATCH, Z)))
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()

    if step % 25 == 0:
        print(f"step {step:4d} d_loss {d_loss.item():.4f} g_loss {g_loss.item():.4f}")
